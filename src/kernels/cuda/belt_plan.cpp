#include "kernels/cuda/belt_plan.h"

namespace tare::kernels::cuda {

std::vector<BeltPlan> belt_plans(std::uint64_t k, std::uint64_t n) {
  std::vector<BeltPlan> plans;
  if (k % 8 != 0) return plans;  // the copy engine's rows are multiples of 16 bytes
  for (const std::uint32_t strips : {1U, 2U, 4U})
    for (const std::uint32_t warps_k : {1U, 2U})
      for (std::uint32_t splits = 1; splits <= kMostClusterBlocks; splits *= 2)
        for (const std::uint32_t at_once : {1U, 2U, 3U, 4U}) {
          const BeltPlan plan{k, n, strips, warps_k, splits, at_once};
          // Every thread block of a cluster writes an equal share of the outputs, four at a time.
          const bool even = plan.width() % (std::uint64_t{4} * splits) == 0;
          const bool enough = splits == 1 || k > std::uint64_t{2} * (splits - 1) * kStageDepth;
          if (plan.consumers() > 16 || !even || !enough) continue;
          if (belt_layout(plan, kMostBeltRows).stages >= 2) plans.push_back(plan);
        }
  return plans;
}

QueueLayout belt_layout(const BeltPlan& plan, std::uint32_t rows) {
  return queue_layout({plan.stages(), plan.stage_bytes(), kStageDepth, 0, plan.width(),
                       plan.warps_k, plan.splits, plan.blocks_at_once, plan.direct(rows)},
                      rows);
}

}  // namespace tare::kernels::cuda
