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

// What the sweeps of bench_cuda_plans found fastest over 1, 8, 16 and 32 rows
// (docs/kernels/cuda-plans.md, cuda-grouped.md).
constexpr std::array<SlabPlan, 3> kSlabs{{
    {1536, 1536, 2, 8, 1, 6},
    {1536, 2048, 2, 8, 1, 6},
    {1536, 256, 1, 16, 1, 3},
}};
constexpr std::array<BeltPlan, 9> kBelts{{
    {4096, 1024, 1, 8, {2, 1}, {1, 2}, 24},
    {4096, 4096, 1, 2, {2, 1, 6}, {2, 1, 6}},
    {1536, 8960, 1, 2, {1, 3, 3}, {1, 3, 8, true}, 12},
    {8960, 1536, 1, 8, {2, 1, 8}, {2, 1, 8}},
    {4096, 6144, 1, 2, {2, 1, 5}, {2, 1, 5}},
    {4096, 12288, 1, 1, {2, 2, 7}, {1, 3, 6}, 12},
    {4096, 24576, 1, 1, {1, 3, 6}, {1, 3, 7}, 12},
    {12288, 4096, 1, 2, {1, 1, 5}, {1, 1, 5}},
    {1536, 17920, 1, 1, {1, 3, 5}, {1, 3, 5}},
}};

template <typename Row, std::size_t kCount>
const Row* find(const std::array<Row, kCount>& measured, const CutProblem& problem) {
  const auto* const row = std::ranges::find_if(
      measured, [&](const Row& known) { return known.k == problem.k && known.n == problem.n; });
  return row == measured.end() ? nullptr : row;
}

std::optional<CutPlan> measured_bf16(const CutProblem& problem) {
  if (const auto* row = find(kSlabs, problem); row && (problem.clusters || row->splits == 1))
    return *row;
  if (const auto* row = find(kBelts, problem); row && problem.clusters) return *row;
  return std::nullopt;
}

// Like most of the measured ones, and its thread blocks fill the GPU best.
std::optional<CutPlan> fullest_belt(std::uint64_t k, std::uint64_t n) {
  constexpr BeltLaunch kLaunch{1, 3, 6};
  std::vector<BeltPlan> plans = belt_plans(k, n);
  std::erase_if(plans, [&](const BeltPlan& plan) {
    return plan.warps_k != 1 || plan.few != kLaunch || plan.many != kLaunch;
  });
  if (plans.empty()) return std::nullopt;
  return *std::ranges::min_element(plans, {}, [](const BeltPlan& plan) {
    return std::fabs(std::log(static_cast<double>(plan.blocks(1)) / kWantedBlocks));
  });
}

CutPlan choose_bf16(const CutProblem& problem) {
  const auto [weights, k, n, clusters] = problem;
  if (const auto known = measured_bf16(problem)) return *known;
  const std::vector<SlabPlan> slabs = slab_plans(k, n, clusters);
  if (clusters && (slabs.empty() || 2 * k * n > kMostSlabBytes))
    if (const auto belt = fullest_belt(k, n)) return *belt;
  if (slabs.empty())
    fail(Blame::kArm, "no CUDA kernel of Tare takes k = {}: a dot product is held in registers", k);
  return choose_slab_plan(slabs);
}

// Likewise of weights by group, of four bits and of eight: for all types of so many.
struct GroupedCut {
  std::uint32_t bits;
  std::uint64_t k, n;
  std::uint32_t warps_k, parts, early_rows, held_rows, held_strips, held_at_once, strips, at_once;
  std::uint32_t held_late = 0, late = 0;
};
constexpr std::array<GroupedCut, 14> kGroups{{
    {4, 1536, 256, 4, 2, 8, 0, 1, 1, 1, 3},
    {4, 1536, 1536, 4, 1, 8, 0, 1, 1, 1, 1},
    {4, 1536, 2048, 4, 2, 4, 0, 1, 1, 2, 2},
    {4, 1536, 8960, 4, 1, 4, 0, 1, 1, 1, 3},
    {4, 8960, 1536, 4, 4, 0, 0, 1, 1, 1, 2},
    {4, 4096, 1024, 4, 4, 4, 0, 1, 1, 1, 2},
    {4, 4096, 4096, 4, 2, 8, 0, 1, 1, 2, 2},
    {4, 4096, 6144, 4, 2, 8, 0, 1, 1, 1, 4},
    {4, 4096, 12288, 1, 2, 0, 0, 1, 1, 4, 2, 0, 4},
    {4, 12288, 4096, 4, 2, 0, 2, 1, 2, 2, 3, 5, 3},
    {4, 4096, 24576, 2, 1, 0, 1, 2, 4, 2, 4},
    {8, 1536, 1536, 4, 2, 4, 0, 1, 1, 2, 2},
    {8, 4096, 4096, 4, 2, 0, 1, 1, 1, 1, 3},
    {8, 4096, 12288, 4, 1, 0, 1, 1, 3, 1, 3},
}};

std::optional<GroupedPlan> measured_groups(std::uint32_t type, std::uint64_t k, std::uint64_t n) {
  const auto* const row = std::ranges::find_if(kGroups, [&](const GroupedCut& cut) {
    return cut.bits == grouped_format(type)->bits && cut.k == k && cut.n == n;
  });
  if (row == kGroups.end()) return std::nullopt;
  const GroupedPlan plan{type,
                         k,
                         n,
                         row->warps_k,
                         row->parts,
                         row->early_rows,
                         row->held_rows,
                         row->held_strips,
                         row->held_at_once,
                         row->strips,
                         row->at_once,
                         row->held_late,
                         row->late};
  return can_run(plan) ? std::optional(plan) : std::nullopt;
}

// Like the measured ones of many outputs: no split of k, or a thread block takes both parts; the
// more outputs the fewer warps share a stage.
std::optional<GroupedPlan> like_wide_groups(std::uint32_t type, std::uint64_t k, std::uint64_t n) {
  constexpr std::uint64_t kHead = 65536, kMany = std::uint64_t{64} * 264, kSome = 10240;
  std::vector<GroupedPlan> plans;
  if (n >= kHead) plans.push_back({type, k, n, 1, 1, 0, 1, 4, 3, 4, 3});
  if (n >= kMany) plans.push_back({type, k, n, 2, 1, 0, 1, 2, 3, 2, 3});
  if (n >= kMany) plans.push_back({type, k, n, 2, 1, 0, 0, 1, 1, 2, 3});
  if (n >= kSome && grouped_format(type)->bits == 4)
    plans.push_back({type, k, n, 1, 2, 0, 0, 1, 1, 4, 2});
  std::erase_if(plans, [](const GroupedPlan& plan) { return !can_run(plan); });
  return plans.empty() ? std::nullopt : std::optional(plans.front());
}

// Like the other measured ones: four warps share a stage, and as many parts of k as make the thread
// blocks of 4096x4096. Up to 8 rows codes are in registers before x is there or, of 8 bits and
// where there are too many of them, the narrow launch holds x.
std::optional<GroupedPlan> like_narrow_groups(std::uint32_t type, std::uint64_t k,
                                              std::uint64_t n) {
  constexpr std::uint64_t kWideOutputs = 3072;
  constexpr double kNarrowBlocks = 128;
  std::vector<GroupedPlan> plans;
  const bool wide_codes = grouped_format(type)->bits == 8, wide = n >= kWideOutputs;
  for (const std::uint32_t early_rows : {wide ? 8U : 4U, 0U})
    for (const std::uint32_t held_rows : {wide_codes ? 8U : 0U, 0U})
      for (const std::uint32_t parts : {1U, 2U, 4U, 8U})
        plans.push_back({type, k, n, 4, parts, early_rows, held_rows, 1, 1, wide ? 2U : 1U,
                         wide_codes ? 1U : 2U});
  std::erase_if(plans, [&](const GroupedPlan& plan) {  // more would have a multiprocessor alone
    return wide_codes && plan.early_rows > 0 && plan.launch(1).consumers > 8;
  });
  std::erase_if(plans, [](const GroupedPlan& plan) { return !can_run(plan); });
  if (plans.empty()) return std::nullopt;
  const std::uint64_t least =
      std::ranges::min(plans, {}, &GroupedPlan::weight_bytes).weight_bytes();
  std::erase_if(plans, [&](const GroupedPlan& plan) {  // parts that padding fills
    return static_cast<double>(plan.weight_bytes()) > 1.05 * static_cast<double>(least);
  });
  return *std::ranges::min_element(plans, {}, [](const GroupedPlan& plan) {
    const auto blocks = static_cast<double>(plan.launch(kMostGroupedRows).blocks);
    return std::fabs(std::log(blocks / kNarrowBlocks));
  });
}

CutPlan choose_grouped(const CutProblem& problem) {
  const auto [type, k, n, clusters] = problem;
  if (!clusters)
    fail(Blame::kArm, "Tare's CUDA kernel of {} weights needs compute capability 9.0",
         formats::type_name(type));
  for (const auto choice : {measured_groups, like_wide_groups, like_narrow_groups})
    if (const auto plan = choice(type, k, n)) return *plan;
  fail(Blame::kArm,
       "Tare's CUDA kernel of {} weights takes k in multiples of 8; the problem has {}",
       formats::type_name(type), k);
}

std::string describe_late(std::string_view name, std::uint32_t eighths) {
  return eighths == 0 ? "" : fmt::format("{} {}/{}", name, eighths, kEighths);
}

std::string describe(const BeltLaunch& launch) {
  return fmt::format("strips {}, at_once {}{}{}", launch.strips, launch.blocks_at_once,
                     describe_late(", late", launch.late), launch.whole ? ", whole" : "");
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
  if (const auto* belt = std::get_if<BeltPlan>(&plan)) {
    const std::string few = describe(belt->few), many = describe(belt->many);
    return fmt::format(
        "warps_k {}, splits {}, {}{}", belt->warps_k, belt->splits, few,
        few == many ? "" : fmt::format("; from {} rows {}", belt->few_rows + 1, many));
  }
  const auto& grouped = std::get<GroupedPlan>(plan);
  return fmt::format(
      "warps_k {}, parts {}, early_rows {}, held_rows {}, held_strips {}, held_at_once {}, strips "
      "{}, at_once {}{}{}",
      grouped.warps_k, grouped.parts, grouped.early_rows, grouped.held_rows, grouped.held_strips,
      grouped.held_at_once, grouped.strips, grouped.at_once,
      describe_late(", held_late", grouped.held_late), describe_late(", late", grouped.late));
}

}  // namespace tare::kernels::cuda
