#include "kernels/cuda/cut_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "formats/weight_format.h"

namespace tare::kernels::cuda {
namespace {

// Up to here the weights of a projection fit into the registers of all multiprocessors of an H200
// at once, and the slab kernel is the faster one.
constexpr std::uint64_t kMostSlabBytes = std::uint64_t{12} << 20U;
constexpr double kWantedBlocks = 264;  // of a queue: two a multiprocessor of an H200

// What the sweeps of bench_cuda_plans found fastest over 1, 8 and 32 rows
// (docs/kernels/cuda-plans.md, cuda-grouped.md).
struct Numbers {
  std::uint64_t k, n;
  std::uint32_t strips, warps_k, splits, last;  // steps of a slab, else thread blocks at once
};
constexpr std::array<Numbers, 3> kSlabs{{
    {1536, 1536, 2, 8, 1, 6},
    {1536, 256, 1, 16, 1, 3},
    {4096, 1024, 2, 8, 2, 8},
}};
constexpr std::array<Numbers, 3> kBelts{{
    {4096, 4096, 1, 1, 4, 3},
    {1536, 8960, 1, 1, 2, 3},
    {8960, 1536, 2, 1, 8, 1},
}};

template <std::size_t kCount>
const Numbers* find(const std::array<Numbers, kCount>& measured, const CutProblem& problem) {
  const auto* const row = std::ranges::find_if(
      measured, [&](const Numbers& known) { return known.k == problem.k && known.n == problem.n; });
  return row == measured.end() ? nullptr : row;
}

std::optional<CutPlan> measured_bf16(const CutProblem& problem) {
  if (const Numbers* row = find(kSlabs, problem); row && (problem.clusters || row->splits == 1))
    return SlabPlan{row->k, row->n, row->strips, row->warps_k, row->splits, row->last};
  if (const Numbers* row = find(kBelts, problem); row && problem.clusters)
    return BeltPlan{row->k, row->n, row->strips, row->warps_k, row->splits, row->last};
  return std::nullopt;
}

// The plan whose thread blocks fill the GPU best, of those that look like the measured ones.
template <typename Plan>
std::optional<CutPlan> fullest(std::vector<Plan> plans, const Plan& like) {
  std::erase_if(plans, [&](const Plan& plan) {
    return plan.strips != like.strips || plan.warps_k != like.warps_k ||
           plan.blocks_at_once != like.blocks_at_once;
  });
  if (plans.empty()) return std::nullopt;
  return *std::ranges::min_element(plans, {}, [](const Plan& plan) {
    return std::fabs(std::log(static_cast<double>(plan.blocks()) / kWantedBlocks));
  });
}

CutPlan choose_bf16(const CutProblem& problem) {
  const auto [weights, k, n, clusters] = problem;
  if (const auto known = measured_bf16(problem)) return *known;
  const std::vector<SlabPlan> slabs = slab_plans(k, n, clusters);
  if (clusters && (slabs.empty() || 2 * k * n > kMostSlabBytes))
    if (const auto belt = fullest(belt_plans(k, n), {k, n, 1, 1, 1, 3})) return *belt;
  if (slabs.empty())
    fail(Blame::kArm, "no CUDA kernel of Tare takes k = {}: a dot product is held in registers", k);
  return choose_slab_plan(slabs);
}

CutPlan choose_grouped(const CutProblem& problem) {
  const auto [type, k, n, clusters] = problem;
  if (!clusters)
    fail(Blame::kArm, "Tare's CUDA kernel of {} weights needs compute capability 9.0",
         formats::type_name(type));
  const auto plans = grouped_plans(type, k, n);
  if (!plans.empty()) return plans.front();
  fail(Blame::kArm,
       "Tare's CUDA kernel of {} weights takes k in multiples of 8; the problem has {}",
       formats::type_name(type), k);
}

}  // namespace

std::vector<CutPlan> cut_plans(const CutProblem& problem) {
  const auto [weights, k, n, clusters] = problem;
  std::vector<CutPlan> plans;
  const auto add = [&](const auto& more) { plans.insert(plans.end(), more.begin(), more.end()); };
  if (weights == TARE_BF16) add(slab_plans(k, n, clusters));
  if (weights == TARE_BF16 && clusters) add(belt_plans(k, n));
  if (weights != TARE_BF16 && clusters) add(grouped_plans(weights, k, n));
  return plans;
}

CutPlan choose_cut_plan(const CutProblem& problem) {
  if (problem.weights == TARE_BF16) return choose_bf16(problem);
  if (grouped_format(problem.weights) != nullptr) return choose_grouped(problem);
  const std::string_view name = formats::type_name(problem.weights);
  fail(Blame::kArm, "no CUDA kernel of Tare takes {} weights",
       name.empty() ? "an unknown type of" : name);
}

std::uint64_t weight_bytes(const CutPlan& plan) {
  return std::visit([](const auto& kind) { return kind.weight_bytes(); }, plan);
}

const char* kernel_name(const CutPlan& plan) {
  constexpr const char* kNames[] = {"slab", "belt", "grouped"};
  return kNames[plan.index()];
}

const char* product_name(const CutPlan& plan) {
  return std::holds_alternative<BeltPlan>(plan) ? "wgmma.m64k16" : "mma.m16n8k16";
}

std::string describe(const CutPlan& plan) {
  if (const auto* slab = std::get_if<SlabPlan>(&plan))
    return fmt::format("strips {}, warps_k {}, splits {}, steps {}", slab->strips, slab->warps_k,
                       slab->splits, slab->steps);
  if (const auto* belt = std::get_if<BeltPlan>(&plan))
    return fmt::format("strips {}, warps_k {}, splits {}, at_once {}", belt->strips, belt->warps_k,
                       belt->splits, belt->blocks_at_once);
  const auto& grouped = std::get<GroupedPlan>(plan);
  return fmt::format(
      "warps_k {}, parts {}, held_rows {}, held_strips {}, held_at_once {}, strips {}, at_once {}",
      grouped.warps_k, grouped.parts, grouped.held_rows, grouped.held_strips, grouped.held_at_once,
      grouped.strips, grouped.at_once);
}

}  // namespace tare::kernels::cuda
