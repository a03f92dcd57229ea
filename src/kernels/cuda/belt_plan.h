// How the belt kernel (belt.h) cuts a projection into pieces. Pure arithmetic, so that it is built
// and tested where there is no GPU.
//
// A thread block owns `strips` strips of 64 outputs and a part of k, of which a stage of 128 k
// after the other passes through shared memory. The `splits` parts of k are those of the thread
// blocks of a cluster, or all of one thread block, which takes them one after the other. The
// weights lie as queue.cuh says; a stage is [strip][half][64 outputs][64 k], the 16-byte units of
// each 128 bytes permuted as ptx.cuh's operand_at() says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/cuda/queue_plan.h"

namespace tare::kernels::cuda {

inline constexpr std::uint32_t kBeltOutputs = 64;  // of a strip: of a warpgroup's product
inline constexpr std::uint32_t kStageDepth = 128;  // k
inline constexpr std::uint32_t kMostBeltRows = kMostQueueRows;

// How a launch does it: no sum's order depends on this.
struct BeltLaunch {
  std::uint32_t strips = 1;          // of 64 outputs, a thread block
  std::uint32_t blocks_at_once = 2;  // thread blocks that a multiprocessor is to hold
  std::uint32_t late = 0;            // when the next dispatch may start: asked_stages()
  bool whole = false;  // a thread block takes all parts of k, one after the other: no cluster

  std::uint64_t width() const { return std::uint64_t{kBeltOutputs} * strips; }
  std::uint64_t stage_bytes() const { return 2 * width() * kStageDepth; }  // of weights
  friend bool operator==(const BeltLaunch&, const BeltLaunch&) = default;
};

// The order of every sum is a function of k, n, warps_k and splits: a warpgroup adds its part of
// stage after stage, then warps_k, then splits, each ascending. Rows, the launch, the number of
// stages in flight and the grid do not enter.
struct BeltPlan {
  std::uint64_t k = 0, n = 0;
  std::uint32_t warps_k = 1;  // warpgroups that share the halves of a stage: 1 or 2
  std::uint32_t splits = 1;   // parts of k: of the thread blocks of a cluster, or of one
  BeltLaunch few, many;
  std::uint32_t few_rows = kMostBeltRows;  // up to so many: `few`

  const BeltLaunch& launch(std::uint32_t rows) const { return rows <= few_rows ? few : many; }
  std::uint32_t consumers(std::uint32_t rows) const {  // warps that multiply
    return 4 * launch(rows).strips * warps_k;
  }
  std::uint32_t threads(std::uint32_t rows) const { return 32 * (consumers(rows) + 1); }
  // Strips that lie together.
  std::uint32_t strips() const { return std::max(few.strips, many.strips); }
  std::uint64_t columns() const {
    const std::uint64_t width = std::uint64_t{kBeltOutputs} * strips();
    return (n + width - 1) / width;
  }
  // Thread blocks along k.
  std::uint32_t cluster(std::uint32_t rows) const { return launch(rows).whole ? 1 : splits; }
  std::uint64_t blocks(std::uint32_t rows) const {
    return columns() * strips() / launch(rows).strips * cluster(rows);
  }
  // Of a part; the last part may have some past the end of k.
  std::uint64_t stages() const {
    return ((k + kStageDepth - 1) / kStageDepth + splits - 1) / splits;
  }
  // Whether sums go where they are needed from registers; with many rows they travel four at a
  // time.
  bool direct(std::uint32_t rows) const {
    return warps_k == 1 && (rows <= 8 || cluster(rows) == 1);
  }
  // Parts of k that a thread block takes one after the other, and stages that it asks for.
  std::uint32_t rounds(std::uint32_t rows) const { return splits / cluster(rows); }
  std::uint64_t stages_of_block(std::uint32_t rows) const { return stages() * rounds(rows); }
  QueueOrder order() const { return {static_cast<std::uint32_t>(columns()), splits, strips()}; }
  std::uint64_t weight_bytes() const {
    return columns() * strips() * splits * stages() * 2 * kBeltOutputs * kStageDepth;
  }
  friend bool operator==(const BeltPlan&, const BeltPlan&) = default;
};

// Whether the kernel can run a plan, at every row count (compute capability 9.0).
bool can_run(const BeltPlan& plan);

// Every cut that it can run with one launch for all rows. Empty unless k is a multiple of 8.
std::vector<BeltPlan> belt_plans(std::uint64_t k, std::uint64_t n);

QueueLayout belt_layout(const BeltPlan& plan, std::uint32_t rows);

}  // namespace tare::kernels::cuda
