// How the grouped kernel (grouped.h) takes weights by group, and how it cuts a projection into
// pieces. Pure arithmetic, so that it is built and tested where there is no GPU.
//
// k falls into `parts`, a part into stages of 256 k, and outputs into strips of 32. The weights lie
// as queue.cuh says; a stage is, strip after strip, what its lanes read 16 bytes at a time:
//
//   codes    [unit of 64 k][half: 16 outputs][plane][lane][16 bytes]. A lane's words are registers
//            of mma.m16n8k16's first operand. 4 bits: one plane, a word a product; bits 4 i and
//            4 i + 16 are the two weights of register i. 8 bits: two planes of two products, two
//            words each; of word h the bytes 0 and 2 are register 2 h, 1 and 3 register 2 h + 1.
//            Lane j of four has k 16 j .. 16 j + 15, four of them a product, so that it reads x 16
//            bytes at a time.
//   scales   [group][lane / 4][outputs lane / 4 + 0, 8, 16, 24], each followed by its bias where
//            the format has them
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/queue_plan.h"
#include "tare/arm.h"

namespace tare::kernels::cuda {

inline constexpr std::uint32_t kGroupedOutputs = 32;  // of a strip
inline constexpr std::uint32_t kUnitDepth = 64;       // k whose products share a scale
inline constexpr std::uint32_t kStageUnits = 4;
inline constexpr std::uint32_t kGroupedDepth = kStageUnits * kUnitDepth;
inline constexpr std::uint32_t kMostGroupedRows = kMostQueueRows;

// w = scale * (operand + offset) + bias. The operand is exact in bf16: of 4 bits 128 + code, since
// that is one instruction for two of them; of 8 bits the code, less 128 where codes start at zero.
struct GroupedFormat {
  std::uint32_t type = 0;  // TARE_... of tare/arm.h
  std::uint32_t bits = 0;
  std::uint32_t group_units = 1;  // units that share a scale
  bool biased = false;
  bool from_zero = false;  // 8 bits: codes are unsigned
  int offset = 0;

  std::uint32_t scale_bytes = biased ? 4 : 2;  // and bias
  // Of a strip's stage: of its codes, of all of it.
  std::uint32_t code_bytes = kGroupedOutputs * kGroupedDepth * bits / 8;
  std::uint32_t strip_bytes =
      code_bytes + kStageUnits / group_units * kGroupedOutputs * scale_bytes;
};
// One scale an output is taken as groups of 128 that repeat it: 1.6 % more to read.
inline constexpr GroupedFormat kMlxInt4{TARE_MLX_INT4_G64, 4, 1, true, false, -128};
inline constexpr GroupedFormat kInt4{TARE_INT4_G128, 4, 2, false, false, -136};
inline constexpr GroupedFormat kMlxInt8{TARE_MLX_INT8_G64, 8, 1, true, true, 128};
inline constexpr GroupedFormat kInt8{TARE_INT8_G128, 8, 2, false, false, 0};
inline constexpr GroupedFormat kInt8Channel{TARE_INT8_CHANNEL, 8, 2, false, false, 0};

// Null where the kernel does not know the type.
const GroupedFormat* grouped_format(std::uint32_t type);

// How a launch does it. Early: a thread block has all codes of a strip in registers before x is
// there. Held: it holds x, and takes all parts of k of its strips from the queue. Queued: the
// thread blocks of a cluster share the parts, and x passes through their queues, too.
enum class GroupedWay { kEarly, kHeld, kQueued };
struct GroupedLaunch {
  GroupedWay way = GroupedWay::kQueued;
  std::uint32_t strips = 1;             // of 32 outputs, a thread block
  std::uint32_t blocks_at_once = 2;     // thread blocks that a multiprocessor is to hold
  std::uint32_t splits = 1, folds = 1;  // parts of k: of a cluster, of a thread block
  std::uint32_t consumers = 0;          // warps that multiply; one more fetches
  std::uint64_t blocks = 0;
  std::uint32_t late = 0;  // when the next dispatch may start: asked_stages()
};

// The order of every sum is a function of the type, k, n, warps_k and parts: over a unit as mma
// takes it; a warp's units of stage after stage; warps_k; parts; each ascending. Rows, how a launch
// does it, the number of stages in flight and the grid do not enter.
struct GroupedPlan {
  std::uint32_t type = 0;
  std::uint64_t k = 0, n = 0;
  std::uint32_t warps_k = 2;     // warps that share the units of a stage: 1, 2 or 4
  std::uint32_t parts = 1;       // of k
  std::uint32_t early_rows = 0;  // up to so many: early; at most kMostEarlyRows
  std::uint32_t held_rows = 0;   // up to so many: held; 0: x always passes through the queue
  std::uint32_t held_strips = 1, held_at_once = 2;
  std::uint32_t strips = 4, at_once = 2;  // of a launch with more; powers of two
  std::uint32_t held_late = 0, late = 0;  // of both: when the next dispatch may start

  std::uint64_t column_strips() const {
    const std::uint64_t most = held_strips > strips ? held_strips : strips;
    const std::uint64_t width = kGroupedOutputs * most;
    return (n + width - 1) / width * most;
  }
  // Of a part of k; of the last parts, some may be past the end of k.
  std::uint64_t stages() const {
    return ((k + kGroupedDepth - 1) / kGroupedDepth + parts - 1) / parts;
  }
  std::uint64_t weight_bytes() const {
    return stages() * parts * column_strips() * grouped_format(type)->strip_bytes;
  }
  QueueOrder order() const {
    const std::uint32_t together = held_strips > strips ? held_strips : strips;
    return {static_cast<std::uint32_t>(column_strips() / together), parts, together};
  }
  // Units of 64 k that a warp of an early launch has.
  std::uint64_t early_units() const { return stages() * kStageUnits / warps_k; }
  GroupedLaunch launch(std::uint32_t rows) const;
  friend bool operator==(const GroupedPlan&, const GroupedPlan&) = default;
};

// Whether the kernel can run a plan, at every row count (compute capability 9.0).
bool can_run(const GroupedPlan& plan);

// Cuts that it can run: with few rows and with more, not every combination of the two. Empty unless
// the kernel knows the type and k is a multiple of 8.
std::vector<GroupedPlan> grouped_plans(std::uint32_t type, std::uint64_t k, std::uint64_t n);

// Of a launch that is not early.
QueueLayout grouped_layout(const GroupedPlan& plan, std::uint32_t rows);

inline constexpr std::uint32_t kMostEarlyRows = 8, kMostEarlyWarps = 16;
inline constexpr std::uint32_t kEarlyPitch = 36;  // floats from row to row of partial sums
// Units of a warp that kernels are made for.
constexpr bool has_early_kernel(std::uint64_t units) {
  return units >= 1 && units <= 8 && units != 5 && units != 7;
}
// What 64 registers of a thread hold.
constexpr int most_early_units(const GroupedFormat& format) {
  return format.bits == 4 ? 8 : 4;
}

// Byte offsets in shared memory: first x, a warp's units after the other's; then scales of all
// units, as they come and in f32 with biases; and partial sums.
struct EarlyLayout {
  std::uint32_t scales = 0, converted = 0, partials = 0, bytes = 0;
};
EarlyLayout early_layout(const GroupedPlan& plan, std::uint32_t rows);

}  // namespace tare::kernels::cuda
