// How the belt kernel (belt.h) cuts a projection into pieces. Pure arithmetic, so that it is built
// and tested where there is no GPU.
//
// A thread block owns `strips` strips of 16 outputs and a part of k, of which a stage of 128 k
// after the other passes through shared memory. A cluster holds the `splits` parts of k. The
// weights lie in the order in which the whole GPU reads them: [stage][column block][split][strip][4
// blocks of 16 outputs x 32 k]; what that did is in docs/kernels/cuda-plans.md.
#pragma once

#include <cstdint>
#include <vector>

namespace tare::kernels::cuda {

inline constexpr std::uint32_t kStageDepth = 128;  // k
inline constexpr std::uint32_t kStageSteps = 4;    // of 32 k
inline constexpr std::uint32_t kMostBeltRows = 32;
inline constexpr std::uint32_t kFeeders = 2;  // warps

// The order of every sum is a function of k, n and strips, warps_k and splits: a warp adds its
// steps of stage after stage, then warps_k, then splits, each ascending. Rows, the number of stages
// in flight and the grid do not enter.
struct BeltPlan {
  std::uint64_t k = 0, n = 0;
  std::uint32_t strips = 4;   // of 16 outputs, a thread block
  std::uint32_t warps_k = 2;  // warps that share the four steps of a stage
  std::uint32_t splits = 1;   // thread blocks along k: a cluster
  std::uint32_t blocks_at_once =
      2;  // thread blocks that a multiprocessor is to hold: sizes the belt

  // Those that multiply, one that fetches weights, and kFeeders that fetch inputs.
  std::uint32_t threads() const { return 32 * (strips * warps_k + 1 + kFeeders); }
  std::uint64_t width() const { return std::uint64_t{16} * strips; }
  std::uint64_t column_blocks() const { return (n + width() - 1) / width(); }
  std::uint64_t blocks() const { return column_blocks() * splits; }
  // Of one thread block; the last of a cluster may have some past the end of k, which it passes
  // over.
  std::uint64_t stages() const {
    return ((k + kStageDepth - 1) / kStageDepth + splits - 1) / splits;
  }
  std::uint64_t stage_bytes() const { return 2 * width() * kStageDepth; }  // of weights
  std::uint64_t weight_bytes() const { return blocks() * stages() * stage_bytes(); }
  friend bool operator==(const BeltPlan&, const BeltPlan&) = default;
};

// Every cut that the kernel can run (compute capability 9.0 and later). Empty unless k is a
// multiple of 32.
std::vector<BeltPlan> belt_plans(std::uint64_t k, std::uint64_t n);

// Shared memory: barriers, the belt, and, in the belt's place when it has run dry, partial sums;
// then what other thread blocks send.
struct BeltLayout {
  std::uint32_t stages = 0;       // in flight
  std::uint32_t stage_pitch = 0;  // bytes from stage to stage: weights, then inputs
  std::uint32_t input_pitch = 0;  // bytes from row to row of a stage's inputs
  std::uint32_t partials = 0;     // byte offset, the belt's
  std::uint32_t partial_pitch = 0;
  std::uint32_t inbox = 0;
  std::uint32_t bytes = 0;
};
BeltLayout belt_layout(const BeltPlan& plan, std::uint32_t rows);

}  // namespace tare::kernels::cuda
