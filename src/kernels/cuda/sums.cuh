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
  const __nv_bfloat16* bias;  // [n], added before the one rounding; null: none
  std::uint64_t n, first;     // of the thread block's outputs
  std::uint32_t rows;
  std::uint32_t width;           // outputs of a thread block: a power of two, as are splits
  std::uint32_t pieces, splits;  // along k: of a thread block, of a cluster
  // Or a thread block has the pieces of several, and adds up in the same order.
  std::uint32_t folds = 1;
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

// Calls `put` with (row, output of the 16, sum) for each of a thread's sums.
template <int kRowTiles, typename Put>
__device__ __forceinline__ void each_sum(const float (&sums)[kRowTiles][4], Put&& put) {
  const std::uint32_t lane = threadIdx.x % 32;
#pragma unroll
  for (int tile = 0; tile < kRowTiles; ++tile)
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i)
      put(tile * 8 + lane % 4 * 2 + i % 2, lane / 4 + i / 2 * 8, sums[tile][i]);
}

// What becomes of an output's sum.
__device__ inline float with_bias(const __nv_bfloat16* bias, std::uint64_t output, float sum) {
  return bias == nullptr ? sum : sum + __bfloat162float(bias[output]);
}

// Four outputs of a row, which start at a multiple of four.
__device__ inline void store_four(const Outputs& to, std::uint32_t row, std::uint64_t output,
                                  float4 sum) {
  __nv_bfloat16* y = to.y + row * to.n + output;
  const auto biased = [&](std::uint32_t i, float one) {
    return with_bias(to.bias, output + i, one);
  };
  if (to.n % 4 == 0 && output < to.n) {
    const __nv_bfloat162 low = __floats2bfloat162_rn(biased(0, sum.x), biased(1, sum.y));
    const __nv_bfloat162 high = __floats2bfloat162_rn(biased(2, sum.z), biased(3, sum.w));
    *reinterpret_cast<uint2*>(y) = uint2{reinterpret_cast<const std::uint32_t&>(low),
                                         reinterpret_cast<const std::uint32_t&>(high)};
    return;
  }
  const float sums[4] = {sum.x, sum.y, sum.z, sum.w};
  for (std::uint32_t i = 0; i < 4; ++i)
    if (output + i < to.n) y[i] = __float2bfloat16_rn(biased(i, sums[i]));
}

constexpr std::uint32_t kMostPieces = 16;  // along k: warps of a thread block

// i / by and i % by of a power of two: a division takes as long as reading a piece.
struct Split {
  std::uint32_t shift, mask;
  __device__ std::uint32_t quotient(std::uint32_t i) const { return i >> shift; }
  __device__ std::uint32_t rest(std::uint32_t i) const { return i & mask; }
};
__device__ inline Split split_by(std::uint32_t by) {
  return {static_cast<std::uint32_t>(31 - __clz(static_cast<int>(by))), by - 1};
}

// The pieces of four outputs, in ascending order.
__device__ inline float4 add_up(const float* piece, std::uint32_t pieces, std::uint32_t stride) {
  float4 sum = *reinterpret_cast<const float4*>(piece);
#pragma unroll 4
  for (std::uint32_t i = 1; i < pieces; ++i) {
    const float4 next = *reinterpret_cast<const float4*>(piece + i * stride);
    sum.x += next.x;
    sum.y += next.y;
    sum.z += next.z;
    sum.w += next.w;
  }
  return sum;
}

// The same in two levels: groups of pieces, then their sums.
__device__ inline float4 add_up(const float* piece, std::uint32_t groups, std::uint32_t pieces,
                                std::uint32_t stride) {
  float4 sum = add_up(piece, pieces, stride);
  for (std::uint32_t i = 1; i < groups; ++i) {
    const float4 next = add_up(piece + i * pieces * stride, pieces, stride);
    sum.x += next.x;
    sum.y += next.y;
    sum.z += next.z;
    sum.w += next.w;
  }
  return sum;
}

// Our sums to the thread blocks of the cluster that write those outputs, and theirs to us.
__device__ inline void exchange(const Outputs& to, std::uint32_t rank, const float* partials,
                                std::uint32_t pitch, std::uint32_t piece_stride, float* inbox) {
  const std::uint32_t share = to.width / to.splits, fours = to.width / 4;
  const Split by_fours = split_by(fours), by_share = split_by(share);
  wait_for_cluster();  // every thread block of it runs: its shared memory is there
  for (std::uint32_t i = threadIdx.x; i < to.rows * fours; i += blockDim.x) {
    const std::uint32_t row = by_fours.quotient(i), output = by_fours.rest(i) * 4;
    send(inbox + (rank * to.rows + row) * share + by_share.rest(output), by_share.quotient(output),
         add_up(partials + row * pitch + output, to.pieces, piece_stride));
  }
  arrive_at_cluster();
  wait_for_cluster();
}

// Likewise from registers (finish_directly()).
template <typename Each>
__device__ void exchange_directly(const Outputs& to, std::uint32_t rank, float* inbox,
                                  bool has_sums, Each&& each) {
  const std::uint32_t share = to.width / to.splits;
  const Split by_share = split_by(share);
  wait_for_cluster();
  if (has_sums)
    each([&](std::uint32_t row, std::uint32_t output, float sum) {
      if (row < to.rows)
        send(inbox + (rank * to.rows + row) * share + by_share.rest(output),
             by_share.quotient(output), sum);
    });
  arrive_at_cluster();
  wait_for_cluster();
}

// Writes what the thread blocks of the cluster have sent.
__device__ inline void write_inbox(const Outputs& to, std::uint32_t rank, const float* inbox) {
  const std::uint32_t share = to.width / to.splits;
  const Split by_share = split_by(share / 4);
  for (std::uint32_t i = threadIdx.x; i < to.rows * (share / 4); i += blockDim.x) {
    const std::uint32_t row = by_share.quotient(i), output = by_share.rest(i) * 4;
    store_four(to, row, to.first + rank * share + output,
               add_up(inbox + row * share + output, to.splits, to.rows * share));
  }
}

// Writes y from registers: one piece and one fold. `each` calls a function with (row, output of the
// thread block, sum) for every sum of a thread that has some. Cluster barriers as finish()'s.
template <typename Each>
__device__ void finish_directly(const Outputs& to, std::uint32_t rank, float* inbox, bool has_sums,
                                Each&& each) {
  if (to.splits > 1) {
    exchange_directly(to, rank, inbox, has_sums, each);
    write_inbox(to, rank, inbox);
  } else if (has_sums) {
    each([&](std::uint32_t row, std::uint32_t output, float sum) {
      if (row < to.rows && to.first + output < to.n)
        to.y[row * to.n + to.first + output] =
            __float2bfloat16_rn(with_bias(to.bias, to.first + output, sum));
    });
  }
}

// A thread an output: every piece is asked for before the first is added.
__device__ inline void write_singly(const Outputs& to, const float* partials, std::uint32_t pitch,
                                    std::uint32_t piece_stride) {
  const Split by_width = split_by(to.width);
  const std::uint32_t row = by_width.quotient(threadIdx.x), output = by_width.rest(threadIdx.x);
  if (row >= to.rows || to.first + output >= to.n) return;
  const float* piece = partials + row * pitch + output;
  float sum = 0;
  for (std::uint32_t fold = 0; fold < to.folds; ++fold, piece += to.pieces * piece_stride) {
    float values[kMostPieces];
#pragma unroll
    for (std::uint32_t i = 0; i < kMostPieces; ++i)
      values[i] = i < to.pieces ? piece[i * piece_stride] : 0.0F;
    float part = values[0];
#pragma unroll
    for (std::uint32_t i = 1; i < kMostPieces; ++i)
      if (i < to.pieces) part += values[i];
    sum = fold == 0 ? part : sum + part;
  }
  to.y[row * to.n + to.first + output] =
      __float2bfloat16_rn(with_bias(to.bias, to.first + output, sum));
}

// Writes y. The thread block's partial sums must be there and visible; where there are several
// thread blocks along k, the kernel must have called arrive_at_cluster() once before.
__device__ inline void finish(const Outputs& to, std::uint32_t rank, std::uint32_t padded_rows,
                              const SumsLayout& layout, unsigned char* shared) {
  const auto* partials = reinterpret_cast<const float*>(shared + layout.partials);
  auto* inbox = reinterpret_cast<float*>(shared + layout.inbox);
  const std::uint32_t piece_stride = padded_rows * layout.partial_pitch;
  if (to.splits > 1) {
    exchange(to, rank, partials, layout.partial_pitch, piece_stride, inbox);
    write_inbox(to, rank, inbox);
    return;
  }
  if (to.rows * to.width <= blockDim.x) {
    write_singly(to, partials, layout.partial_pitch, piece_stride);
    return;
  }
  const Split by_width = split_by(to.width / 4);
  for (std::uint32_t i = threadIdx.x; i < to.rows * (to.width / 4); i += blockDim.x) {
    const std::uint32_t row = by_width.quotient(i), output = by_width.rest(i) * 4;
    store_four(
        to, row, to.first + output,
        add_up(partials + row * layout.partial_pitch + output, to.folds, to.pieces, piece_stride));
  }
}

}  // namespace tare::kernels::cuda
