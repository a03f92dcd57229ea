#include "kernels/cuda/cut_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/error.h"

namespace tare::kernels::cuda {
namespace {

// Up to here the weights of a projection fit into the registers of all multiprocessors of an H200
// at once, and the slab kernel is the faster one.
constexpr std::uint64_t kMostSlabBytes = std::uint64_t{12} << 20U;
constexpr double kWantedBlocks = 264;  // of a belt: two a multiprocessor of an H200

// What the sweep of bench_cuda_plans found fastest over 1, 8 and 32 rows
// (docs/kernels/cuda-plans.md).
struct Measured {
  std::uint64_t k, n;
  bool belt;
  std::uint32_t strips, warps_k, splits, last;  // steps of a slab, thread blocks at once of a belt
};
constexpr std::array<Measured, 6> kMeasured{{
    {1536, 1536, false, 2, 8, 1, 6},
    {1536, 256, false, 1, 16, 1, 3},
    {4096, 1024, false, 2, 8, 2, 8},
    {4096, 4096, true, 4, 1, 4, 3},
    {1536, 8960, true, 4, 1, 2, 3},
    {8960, 1536, true, 8, 1, 8, 1},
}};

CutPlan plan_of(const Measured& row) {
  if (row.belt) return BeltPlan{row.k, row.n, row.strips, row.warps_k, row.splits, row.last};
  return SlabPlan{row.k, row.n, row.strips, row.warps_k, row.splits, row.last};
}

std::optional<CutPlan> measured(std::uint64_t k, std::uint64_t n, bool clusters) {
  const auto row = std::ranges::find_if(
      kMeasured, [&](const Measured& known) { return known.k == k && known.n == n; });
  if (row == kMeasured.end() || (!clusters && (row->belt || row->splits > 1))) return std::nullopt;
  return plan_of(*row);
}

// Four strips, one warp each, three thread blocks a multiprocessor: fastest or nearly so wherever a
// belt was. Of their splits, the one whose thread blocks fill the GPU best.
std::optional<CutPlan> like_measured_belts(std::uint64_t k, std::uint64_t n) {
  std::vector<BeltPlan> plans = belt_plans(k, n);
  std::erase_if(plans, [](const BeltPlan& plan) {
    return plan.strips != 4 || plan.warps_k != 1 || plan.blocks_at_once != 3;
  });
  if (plans.empty()) return std::nullopt;
  return *std::ranges::min_element(plans, {}, [](const BeltPlan& plan) {
    return std::fabs(std::log(static_cast<double>(plan.blocks()) / kWantedBlocks));
  });
}

}  // namespace

std::vector<CutPlan> cut_plans(std::uint64_t k, std::uint64_t n, bool clusters) {
  std::vector<CutPlan> plans;
  for (const SlabPlan& plan : slab_plans(k, n, clusters)) plans.emplace_back(plan);
  if (clusters)
    for (const BeltPlan& plan : belt_plans(k, n)) plans.emplace_back(plan);
  return plans;
}

CutPlan choose_cut_plan(std::uint64_t k, std::uint64_t n, bool clusters) {
  if (const auto known = measured(k, n, clusters)) return *known;
  const std::vector<SlabPlan> slabs = slab_plans(k, n, clusters);
  if (clusters && (slabs.empty() || 2 * k * n > kMostSlabBytes))
    if (const auto belt = like_measured_belts(k, n)) return *belt;
  if (slabs.empty())
    fail(Blame::kArm, "no CUDA kernel of Tare takes k = {}: a dot product is held in registers", k);
  return choose_slab_plan(slabs);
}

std::uint64_t weight_bytes(const CutPlan& plan) {
  return std::visit([](const auto& kind) { return kind.weight_bytes(); }, plan);
}

const char* kernel_name(const CutPlan& plan) {
  return std::holds_alternative<SlabPlan>(plan) ? "slab" : "belt";
}

std::string describe(const CutPlan& plan) {
  if (const auto* slab = std::get_if<SlabPlan>(&plan))
    return fmt::format("strips {}, warps_k {}, splits {}, steps {}", slab->strips, slab->warps_k,
                       slab->splits, slab->steps);
  const auto& belt = std::get<BeltPlan>(plan);
  return fmt::format("strips {}, warps_k {}, splits {}, at_once {}", belt.strips, belt.warps_k,
                     belt.splits, belt.blocks_at_once);
}

}  // namespace tare::kernels::cuda
