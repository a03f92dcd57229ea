// How the slab kernel (slab.h) cuts a projection into pieces. Pure arithmetic, so that it is built
// and tested where there is no GPU.
//
// The weights lie in blocks of 16 outputs x 32 k, row-major within a block, 1 KiB each. A warp owns
// one strip of 16 outputs and `steps` consecutive blocks of it; in memory, the first blocks of all
// warps of the grid come first, then their second ones. What is beyond n or k is zero. A thread
// block owns `strips` strips and `warps_k` such pieces along k, a cluster `splits` times as much
// along k.
#pragma once

#include <cstdint>
#include <vector>

namespace tare::kernels::cuda {

inline constexpr std::uint32_t kSlabOutputs = 16;   // of a block
inline constexpr std::uint32_t kSlabDepth = 32;     // k of a block
inline constexpr std::uint32_t kMostSlabSteps = 8;  // 16-byte loads in flight: two a step and lane
inline constexpr std::uint32_t kMostSlabRows = 32;

// The order of every sum is a function of k, n and these numbers alone: over a step's 32 k as mma
// takes them, over a warp's steps, over warps_k, over splits, each ascending. Rows and the grid do
// not enter.
struct SlabPlan {
  std::uint64_t k = 0, n = 0;
  std::uint32_t strips = 4;   // of 16 outputs, a thread block
  std::uint32_t warps_k = 2;  // pieces along k, a thread block
  std::uint32_t splits = 1;   // thread blocks along k: a cluster
  std::uint32_t steps = 8;    // blocks along k, a warp: 1..kMostSlabSteps

  std::uint32_t threads() const { return 32 * strips * warps_k; }
  std::uint64_t outputs_per_block() const { return std::uint64_t{kSlabOutputs} * strips; }
  std::uint64_t column_blocks() const {
    return (n + outputs_per_block() - 1) / outputs_per_block();
  }
  std::uint64_t blocks() const { return column_blocks() * splits; }
  std::uint64_t depth_per_block() const { return std::uint64_t{kSlabDepth} * steps * warps_k; }
  std::uint64_t padded_k() const { return depth_per_block() * splits; }
  std::uint64_t padded_n() const { return column_blocks() * outputs_per_block(); }
  std::uint64_t weight_bytes() const { return 2 * padded_k() * padded_n(); }
  friend bool operator==(const SlabPlan&, const SlabPlan&) = default;
};

// Every way to cut k x n that the kernel can run, with (compute capability 9.0 and later) or
// without clusters. Empty when k is too long for one.
std::vector<SlabPlan> slab_plans(std::uint64_t k, std::uint64_t n, bool clusters);

// The one that is used: the measured choice where docs/kernels/cuda-slab.md has one, else the least
// estimated cost. `plans` as above, not empty.
SlabPlan choose_slab_plan(const std::vector<SlabPlan>& plans);

// Bytes of shared memory a thread block of the plan needs for so many rows.
std::uint64_t slab_shared_bytes(const SlabPlan& plan, std::uint32_t rows);

// The same offsets for the kernel: inputs, then partial sums, then what other thread blocks send.
struct SlabLayout {
  std::uint32_t input_pitch = 0;  // bytes from row to row; 64 past a multiple of 128: no conflicts
  std::uint32_t partials = 0;     // byte offset
  std::uint32_t partial_pitch = 0;  // floats from row to row
  std::uint32_t inbox = 0;          // byte offset
  std::uint32_t bytes = 0;
};
SlabLayout slab_layout(const SlabPlan& plan, std::uint32_t rows);

}  // namespace tare::kernels::cuda
