#include "kernels/cuda/queue_plan.h"

#include <algorithm>

namespace tare::kernels::cuda {
namespace {

constexpr std::uint64_t kSharedBytes = 227 << 10;  // of a multiprocessor of 9.0, for thread blocks
constexpr std::uint64_t kReserved = 1 << 10;       // of each thread block
// The permutation of a box's 16-byte units goes by address: boxes start at multiples of 8 rows.
constexpr std::uint64_t kAlignment = 1024;
constexpr std::uint64_t kBarriers = kAlignment;

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

QueueLayout queue_layout(const QueueShape& shape, std::uint32_t rows) {
  const std::uint64_t padded_rows = round_up(rows, 8);
  const std::uint64_t box = padded_rows * 2 * kBoxDepth,
                      weights = round_up(shape.stage_bytes, kAlignment);
  const std::uint64_t pitch = weights + shape.depth / kBoxDepth * box;
  QueueLayout layout;
  layout.stage_pitch = static_cast<std::uint32_t>(pitch);
  layout.inputs = static_cast<std::uint32_t>(weights);
  layout.box_pitch = static_cast<std::uint32_t>(box);
  layout.partials = kBarriers;
  layout.partial_pitch = static_cast<std::uint32_t>(shape.width + 4);
  const std::uint64_t sums =
      shape.direct ? 0 : shape.pieces * padded_rows * layout.partial_pitch * 4;
  const std::uint64_t inbox = shape.splits > 1 ? padded_rows * shape.width * 4 : 0;
  const std::uint64_t held = round_up(2 * shape.held_depth * rows, 128);
  const std::uint64_t taken = kReserved + kBarriers + inbox + held + 128;
  const std::uint64_t each = kSharedBytes / shape.blocks_at_once;
  const std::uint64_t room = each > taken ? each - taken : 0;
  layout.stages = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      {room / pitch, kMostQueueStages, std::max<std::uint64_t>(2, shape.stages)}));
  layout.inbox =
      static_cast<std::uint32_t>(round_up(kBarriers + std::max(layout.stages * pitch, sums), 128));
  layout.held = static_cast<std::uint32_t>(layout.inbox + inbox);
  layout.bytes = static_cast<std::uint32_t>(layout.held + held);
  return layout;
}

}  // namespace tare::kernels::cuda
