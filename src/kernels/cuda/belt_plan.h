// How the belt kernel (belt.h) cuts a projection into pieces. Pure arithmetic, so that it is built
// and tested where there is no GPU.
//
// A thread block owns `strips` strips of 64 outputs and a part of k, of which a stage of 128 k
// after the other passes through shared memory. A cluster holds the `splits` parts of k. The
// weights lie as queue.cuh says; a stage is [strip][half][64 outputs][64 k], the 16-byte units of
// each 128 bytes permuted as ptx.cuh's operand_at() says.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/queue_plan.h"

namespace tare::kernels::cuda {

inline constexpr std::uint32_t kBeltOutputs = 64;  // of a strip: of a warpgroup's product
inline constexpr std::uint32_t kStageDepth = 128;  // k
inline constexpr std::uint32_t kMostBeltRows = kMostQueueRows;

// The order of every sum is a function of k, n and strips, warps_k and splits: a warpgroup adds its
// part of stage after stage, then warps_k, then splits, each ascending. Rows, the number of stages
// in flight and the grid do not enter.
struct BeltPlan {
  std::uint64_t k = 0, n = 0;
  std::uint32_t strips = 1;          // of 64 outputs, a thread block
  std::uint32_t warps_k = 1;         // warpgroups that share the halves of a stage: 1 or 2
  std::uint32_t splits = 1;          // thread blocks along k: a cluster
  std::uint32_t blocks_at_once = 2;  // thread blocks that a multiprocessor is to hold

  std::uint32_t consumers() const { return 4 * strips * warps_k; }  // warps that multiply
  std::uint32_t threads() const { return 32 * (consumers() + 1); }  // and one that fetches
  std::uint64_t width() const { return std::uint64_t{kBeltOutputs} * strips; }
  std::uint64_t column_blocks() const { return (n + width() - 1) / width(); }
  std::uint64_t blocks() const { return column_blocks() * splits; }
  // Of one thread block; the last of a cluster may have some past the end of k.
  std::uint64_t stages() const {
    return ((k + kStageDepth - 1) / kStageDepth + splits - 1) / splits;
  }
  // Whether sums go where they are needed from registers; with many rows they travel four at a
  // time.
  bool direct(std::uint32_t rows) const { return warps_k == 1 && (rows <= 8 || splits == 1); }
  QueueOrder order() const { return {static_cast<std::uint32_t>(column_blocks()), splits, strips}; }
  std::uint64_t stage_bytes() const { return 2 * width() * kStageDepth; }  // of weights
  std::uint64_t weight_bytes() const { return blocks() * stages() * stage_bytes(); }
  friend bool operator==(const BeltPlan&, const BeltPlan&) = default;
};

// Every cut that the kernel can run (compute capability 9.0). Empty unless k is a multiple of 8.
std::vector<BeltPlan> belt_plans(std::uint64_t k, std::uint64_t n);

QueueLayout belt_layout(const BeltPlan& plan, std::uint32_t rows);

}  // namespace tare::kernels::cuda
