#include "kernels/cuda/grouped_plan.h"

#include <algorithm>

namespace tare::kernels::cuda {

const GroupedFormat* grouped_format(std::uint32_t type) {
  static constexpr GroupedFormat kKnown[] = {kMlxInt4, kInt4, kMlxInt8, kInt8, kInt8Channel};
  const auto* const found = std::ranges::find(kKnown, type, &GroupedFormat::type);
  return found == std::end(kKnown) ? nullptr : found;
}

namespace {

bool fits_early(const GroupedPlan& plan, const GroupedLaunch& launch) {
  const std::uint64_t units = plan.early_units();
  const auto most = static_cast<std::uint64_t>(most_early_units(*grouped_format(plan.type)));
  return plan.early_rows <= kMostEarlyRows && launch.consumers >= 4 &&
         launch.consumers <= kMostEarlyWarps && units <= most && has_early_kernel(units);
}

bool fits(const GroupedPlan& plan, std::uint32_t rows) {
  const GroupedLaunch launch = plan.launch(rows);
  if (launch.way == GroupedWay::kEarly) return fits_early(plan, launch);
  if (launch.late > kEighths) return false;
  // With one that fetches, and up to 128 registers, more warps would not fit a multiprocessor.
  if (launch.consumers < 4 || launch.consumers > 8) return false;
  // Every thread block of a cluster writes an equal share of the outputs, four at a time.
  if (kGroupedOutputs * launch.strips % (4 * launch.splits) != 0) return false;
  return grouped_layout(plan, rows).stages >= 2;
}

}  // namespace

GroupedLaunch GroupedPlan::launch(std::uint32_t rows) const {
  const std::uint64_t strips_of_n = column_strips();
  if (rows <= early_rows) return {GroupedWay::kEarly, 1, 1, 1, parts, warps_k * parts, strips_of_n};
  if (rows <= held_rows)
    return {GroupedWay::kHeld,
            held_strips,
            held_at_once,
            1,
            parts,
            warps_k * parts * held_strips,
            strips_of_n / held_strips,
            held_late};
  return {GroupedWay::kQueued,          strips, at_once, parts, 1, warps_k * strips,
          strips_of_n / strips * parts, late};
}

bool can_run(const GroupedPlan& plan) {
  if (grouped_format(plan.type) == nullptr || plan.k % 8 != 0) return false;
  if (plan.parts > 1 && plan.k <= std::uint64_t{plan.parts - 1} * kGroupedDepth) return false;
  return fits(plan, kMostGroupedRows) && (plan.held_rows == 0 || fits(plan, plan.held_rows)) &&
         (plan.early_rows == 0 || fits(plan, plan.early_rows));
}

std::vector<GroupedPlan> grouped_plans(std::uint32_t type, std::uint64_t k, std::uint64_t n) {
  constexpr std::uint32_t kHalfway = kEighths / 2;
  std::vector<GroupedPlan> plans;
  const auto add_if_it_runs = [&](const GroupedPlan& plan) {
    if (can_run(plan)) plans.push_back(plan);
  };
  for (const std::uint32_t warps_k : {1U, 2U, 4U})
    for (const std::uint32_t parts : {1U, 2U, 4U, 8U}) {
      for (const std::uint32_t strips : {1U, 2U, 4U, 8U})
        for (const std::uint32_t at_once : {1U, 2U, 3U, 4U})
          for (const std::uint32_t late : {0U, kHalfway})
            add_if_it_runs({type, k, n, warps_k, parts, 0, 0, 1, 1, strips, at_once, 0, late});
      add_if_it_runs({type, k, n, warps_k, parts, kMostEarlyRows, 0, 1, 1, 8 / warps_k, 1});
      // What is best with few rows does not depend on what is best with more.
      for (const std::uint32_t rows : {1U, 4U, 8U})
        for (const std::uint32_t strips : {1U, 2U, 4U})
          for (const std::uint32_t at_once : {1U, 2U, 3U, 4U})
            for (const std::uint32_t late : {0U, kHalfway})
              add_if_it_runs(
                  {type, k, n, warps_k, parts, 0, rows, strips, at_once, 8 / warps_k, 1, late});
    }
  return plans;
}

QueueLayout grouped_layout(const GroupedPlan& plan, std::uint32_t rows) {
  const GroupedLaunch launch = plan.launch(rows);
  const std::uint64_t stage_bytes =
      std::uint64_t{launch.folds} * launch.strips * grouped_format(plan.type)->strip_bytes;
  const bool held = launch.way == GroupedWay::kHeld;
  const std::uint64_t held_depth = held ? plan.stages() * plan.parts * kGroupedDepth : 0;
  return queue_layout({plan.stages(), stage_bytes, held ? 0 : kGroupedDepth, held_depth,
                       std::uint64_t{kGroupedOutputs} * launch.strips, plan.warps_k * launch.folds,
                       launch.splits, launch.blocks_at_once},
                      rows);
}

EarlyLayout early_layout(const GroupedPlan& plan, std::uint32_t rows) {
  const std::uint64_t warps = std::uint64_t{plan.warps_k} * plan.parts;
  const std::uint64_t units = warps * plan.early_units();
  EarlyLayout layout;
  layout.scales = static_cast<std::uint32_t>(units * rows * kUnitDepth * 2);
  layout.converted = static_cast<std::uint32_t>(
      layout.scales + units * kGroupedOutputs * grouped_format(plan.type)->scale_bytes);
  layout.partials = static_cast<std::uint32_t>(layout.converted + units * kGroupedOutputs * 8);
  layout.bytes = static_cast<std::uint32_t>(layout.partials + warps * rows * kEarlyPitch * 4);
  return layout;
}

}  // namespace tare::kernels::cuda
