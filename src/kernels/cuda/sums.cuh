// What every tensor-core kernel here ends with: a warp's sums into shared memory, pieces along k
// added up in ascending order, within a thread block and then over a cluster, and stored once as
// bf16.
#pragma once

#include <cuda_bf16.h>

#include "kernels/cuda/ptx.cuh"

namespace tare::kernels::cuda {

// The part of y that a cluster writes, and how its sums lie in shared memory.
struct SumsLayout {
  std::uint32_t partials = 0;       // byte offset: [piece along k][row, padded to 8][output]
  std::uint32_t partial_pitch = 0;  // floats from row to row
  std::uint32_t inbox = 0;          // byte offset: [thread block][row][output of ours]
};
struct Outputs {
  __nv_bfloat16* y;
  std::uint64_t n, first;  // of the thread block's outputs
  std::uint32_t rows;
  std::uint32_t width;           // outputs of a thread block
  std::uint32_t pieces, splits;  // along k: of a thread block, of a cluster
};

// A warp's sums, 16 outputs x 8 rows a tile, into its place.
template <int kRowTiles>
__device__ void store_partials(const float (&sums)[kRowTiles][4], std::uint32_t pitch,
                               float* partials) {
  const std::uint32_t lane = threadIdx.x % 32;
#pragma unroll
  for (int tile = 0; tile < kRowTiles; ++tile) {
    float* at = partials + (tile * 8 + lane % 4 * 2) * pitch + lane / 4;
    at[0] = sums[tile][0];
    at[pitch] = sums[tile][1];
    at[8] = sums[tile][2];
    at[pitch + 8] = sums[tile][3];
  }
}

__device__ inline void store_pair(const Outputs& to, std::uint32_t row, std::uint64_t output,
                                  float2 sum) {
  __nv_bfloat16* y = to.y + row * to.n + output;
  if (to.n % 2 == 0 && output + 1 < to.n) {
    *reinterpret_cast<__nv_bfloat162*>(y) = __floats2bfloat162_rn(sum.x, sum.y);
    return;
  }
  if (output < to.n) y[0] = __float2bfloat16_rn(sum.x);
  if (output + 1 < to.n) y[1] = __float2bfloat16_rn(sum.y);
}

// The pieces of one pair of outputs, in ascending order.
__device__ inline float2 add_up(const float* piece, std::uint32_t pieces, std::uint32_t stride) {
  float2 sum{piece[0], piece[1]};
  for (std::uint32_t i = 1; i < pieces; ++i) {
    sum.x += piece[i * stride];
    sum.y += piece[i * stride + 1];
  }
  return sum;
}

// Our sums to the thread blocks of the cluster that write those outputs, and theirs to us.
__device__ inline void exchange(const Outputs& to, std::uint32_t rank, const float* partials,
                                std::uint32_t pitch, std::uint32_t piece_stride, float* inbox) {
  const std::uint32_t share = to.width / to.splits, pairs = to.width / 2;
  wait_for_cluster();  // every thread block of it runs: its shared memory is there
  for (std::uint32_t i = threadIdx.x; i < to.rows * pairs; i += blockDim.x) {
    const std::uint32_t row = i / pairs, output = i % pairs * 2;
    const float2 sum = add_up(partials + row * pitch + output, to.pieces, piece_stride);
    float* into = inbox + (rank * to.rows + row) * share + output % share;
    send(into, output / share, sum.x);
    send(into + 1, output / share, sum.y);
  }
  arrive_at_cluster();
  wait_for_cluster();
}

// Writes y. The thread block's partial sums must be there and visible; where there are several
// thread blocks along k, the kernel must have called arrive_at_cluster() once before.
__device__ inline void finish(const Outputs& to, std::uint32_t rank, std::uint32_t padded_rows,
                              const SumsLayout& layout, unsigned char* shared) {
  const auto* partials = reinterpret_cast<const float*>(shared + layout.partials);
  auto* inbox = reinterpret_cast<float*>(shared + layout.inbox);
  const std::uint32_t share = to.width / to.splits;
  const std::uint32_t piece_stride = padded_rows * layout.partial_pitch;
  const bool alone = to.splits == 1;
  if (!alone) exchange(to, rank, partials, layout.partial_pitch, piece_stride, inbox);
  const float* from = alone ? partials : inbox;
  const std::uint32_t row_stride = alone ? layout.partial_pitch : share;
  const std::uint32_t stride = alone ? piece_stride : to.rows * share;
  const std::uint32_t count = alone ? to.pieces : to.splits;
  for (std::uint32_t i = threadIdx.x; i < to.rows * (share / 2); i += blockDim.x) {
    const std::uint32_t row = i / (share / 2), output = i % (share / 2) * 2;
    store_pair(to, row, to.first + rank * share + output,
               add_up(from + row * row_stride + output, count, stride));
  }
}

}  // namespace tare::kernels::cuda
