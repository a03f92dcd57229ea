#include "kernels/cuda/belt_plan.h"

#include <algorithm>

namespace tare::kernels::cuda {
namespace {

constexpr std::uint32_t kMostSplits = 8;
constexpr std::uint32_t kMostStages = 12;
constexpr std::uint64_t kSharedBytes = 227 << 10;  // of a multiprocessor of 9.0, for thread blocks
constexpr std::uint64_t kReserved = 1 << 10;       // of each thread block
constexpr std::uint64_t kBarriers = 256;           // bytes: two of 8 a stage

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) {
  return (value + by - 1) / by;
}

}  // namespace

std::vector<BeltPlan> belt_plans(std::uint64_t k, std::uint64_t n) {
  std::vector<BeltPlan> plans;
  if (k % 32 != 0) return plans;
  for (const std::uint32_t strips : {1U, 2U, 4U, 8U})
    for (const std::uint32_t warps_k : {1U, 2U, 4U})
      for (std::uint32_t splits = 1; splits <= kMostSplits; ++splits)
        for (const std::uint32_t at_once : {1U, 2U, 3U}) {
          const BeltPlan plan{k, n, strips, warps_k, splits, at_once};
          const std::uint32_t warps = strips * warps_k;
          const bool even = plan.width() % (4 * splits) == 0;
          const bool enough = splits == 1 || divide_up(k, kStageDepth) >= 2 * splits;
          if (warps < 4 || warps > 16 || !even || !enough) continue;
          if (belt_layout(plan, kMostBeltRows).stages >= 2) plans.push_back(plan);
        }
  return plans;
}

BeltLayout belt_layout(const BeltPlan& plan, std::uint32_t rows) {
  const std::uint64_t padded_rows = divide_up(rows, 8) * 8;
  BeltLayout layout;
  layout.input_pitch = 2 * kStageDepth + 64;  // 64 past a multiple of 128: no conflicts
  layout.stage_pitch = static_cast<std::uint32_t>(
      plan.stage_bytes() + divide_up(padded_rows * layout.input_pitch, 128) * 128);
  layout.partials = kBarriers;
  layout.partial_pitch = static_cast<std::uint32_t>(plan.width() + 4);
  const std::uint64_t sums = plan.warps_k * padded_rows * layout.partial_pitch * 4;
  const std::uint64_t inbox = plan.splits > 1 ? padded_rows * plan.width() * 4 : 0;
  const std::uint64_t room = kSharedBytes / plan.blocks_at_once - kReserved - kBarriers - inbox;
  const std::uint64_t fit = inbox + kBarriers < kSharedBytes ? room / layout.stage_pitch : 0;
  layout.stages = static_cast<std::uint32_t>(
      std::min<std::uint64_t>({fit, kMostStages, std::max<std::uint64_t>(2, plan.stages())}));
  const std::uint64_t belt = std::uint64_t{layout.stages} * layout.stage_pitch;
  layout.inbox = static_cast<std::uint32_t>(divide_up(kBarriers + std::max(belt, sums), 128) * 128);
  layout.bytes = static_cast<std::uint32_t>(layout.inbox + inbox);
  return layout;
}

}  // namespace tare::kernels::cuda
