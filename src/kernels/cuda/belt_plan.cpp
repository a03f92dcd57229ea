#include "kernels/cuda/belt_plan.h"

namespace tare::kernels::cuda {
namespace {

bool fits(const BeltPlan& plan, std::uint32_t rows) {
  const BeltLaunch& launch = plan.launch(rows);
  if (launch.late > kEighths || plan.consumers(rows) > 16 || plan.strips() % launch.strips != 0)
    return false;
  // The sums of warpgroups that share a stage are added up once, after all parts.
  if (launch.whole && (plan.warps_k > 1 || plan.splits == 1)) return false;
  // Every thread block of a cluster writes an equal share of the outputs, four at a time.
  if (launch.width() % (std::uint64_t{4} * plan.cluster(rows)) != 0) return false;
  return belt_layout(plan, rows).stages >= 2;
}

}  // namespace

bool can_run(const BeltPlan& plan) {
  if (plan.k % 8 != 0) return false;  // the copy engine's rows are multiples of 16 bytes
  if (plan.splits > 1 && plan.k <= std::uint64_t{2} * (plan.splits - 1) * kStageDepth) return false;
  return fits(plan, kMostBeltRows) && fits(plan, std::min(plan.few_rows, kMostBeltRows));
}

std::vector<BeltPlan> belt_plans(std::uint64_t k, std::uint64_t n) {
  std::vector<BeltPlan> plans;
  for (const std::uint32_t strips : {1U, 2U, 4U})
    for (const std::uint32_t warps_k : {1U, 2U})
      for (std::uint32_t splits = 1; splits <= kMostClusterBlocks; splits *= 2)
        for (const std::uint32_t at_once : {1U, 2U, 3U, 4U})
          for (const std::uint32_t late : {0U, 4U, 6U, kEighths})
            for (const bool whole : {false, true}) {
              const BeltLaunch launch{strips, at_once, late, whole};
              const BeltPlan plan{k, n, warps_k, splits, launch, launch};
              if (can_run(plan)) plans.push_back(plan);
            }
  return plans;
}

QueueLayout belt_layout(const BeltPlan& plan, std::uint32_t rows) {
  const BeltLaunch& launch = plan.launch(rows);
  return queue_layout(
      {plan.stages_of_block(rows), launch.stage_bytes(), kStageDepth, 0, launch.width(),
       plan.warps_k, plan.cluster(rows), launch.blocks_at_once, plan.direct(rows)},
      rows);
}

}  // namespace tare::kernels::cuda
