#include <cuda_bf16.h>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/pack.cuh"
#include "kernels/cuda/ptx.cuh"
#include "kernels/cuda/slab.h"
#include "kernels/cuda/sums.cuh"

namespace tare::kernels::cuda {
namespace {

struct Arguments {
  const uint4* weights;
  const __nv_bfloat16* x;
  __nv_bfloat16* y;
  const __nv_bfloat16* bias;  // Outputs'
  std::uint64_t k, n;
  std::uint32_t rows, strips, warps_k, splits;
  SlabLayout layout;
};

// Which 16 bytes of the rows of x a thread brings: its first, and how far on its next are. Found by
// divisions, while there is time.
struct InputUnits {
  std::uint32_t units, row, unit, rows_on, units_on;

  __device__ explicit InputUnits(std::uint32_t units_)
      : units(units_),
        row(threadIdx.x / units_),
        unit(threadIdx.x % units_),
        rows_on(blockDim.x / units_),
        units_on(blockDim.x % units_) {}
  __device__ void next() {
    row += rows_on;
    unit += units_on;
    if (unit < units) return;
    unit -= units;
    ++row;
  }
};

// x[rows, this thread block's part of k] into shared memory, zero past the end of k. 16 bytes a
// copy where rows of x are aligned so.
__device__ void stage_inputs(const Arguments& at, std::uint64_t first_k, InputUnits mine,
                             unsigned char* shared) {
  const bool aligned = at.k % 8 == 0;
  for (; mine.row < at.rows; mine.next()) {
    const std::uint64_t column = first_k + 8 * mine.unit;
    unsigned char* into = shared + mine.row * at.layout.input_pitch + 16 * mine.unit;
    const __nv_bfloat16* from = at.x + mine.row * at.k + column;
    if (aligned) {
      copy_async(into, column < at.k ? from : at.x, column < at.k);
      continue;
    }
    for (std::uint32_t e = 0; e < 8; ++e)
      reinterpret_cast<__nv_bfloat16*>(into)[e] =
          column + e < at.k ? from[e] : __float2bfloat16_rn(0.0F);
  }
  wait_for_copies();
}

// A lane's 16 bytes are 8 consecutive k of one output, and of one row of x: k is dealt to the two
// mma of a step in another order than it lies, the same for weights and x.
template <int kSteps, int kRowTiles>
__device__ void multiply(const uint4 (&weights)[kSteps][2], const unsigned char* inputs,
                         std::uint32_t pitch, float (&sums)[kRowTiles][4]) {
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const uint4 upper = weights[step][0], lower = weights[step][1];
#pragma unroll
    for (int tile = 0; tile < kRowTiles; ++tile) {
      const uint4 x = *reinterpret_cast<const uint4*>(inputs + tile * 8 * pitch + step * 64);
      multiply_add(sums[tile], upper.x, lower.x, upper.y, lower.y, x.x, x.y);
      multiply_add(sums[tile], upper.z, lower.z, upper.w, lower.w, x.z, x.w);
    }
  }
}

template <int kSteps, int kRowTiles>
__global__ void slab(const __grid_constant__ Arguments at) {
  extern __shared__ __align__(128) unsigned char shared[];
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint32_t strip = warp % at.strips, piece = warp / at.strips;
  const std::uint32_t rank = blockIdx.x % at.splits, column_block = blockIdx.x / at.splits;
  const std::uint32_t warps = blockDim.x / 32;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * warps * 64;  // from step to step
  const uint4* mine = at.weights + (std::uint64_t{blockIdx.x} * warps + warp) * 64 + lane;
  uint4 weights[kSteps][2];
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    weights[step][0] = load_once(mine + step * stride);
    weights[step][1] = load_once(mine + step * stride + 32);
  }
  let_successors_start();
  ask_for_inputs(at.x, 2 * at.k * at.rows, blockDim.x);
  if (at.splits > 1) arrive_at_cluster();
  const std::uint32_t depth = kSlabDepth * kSteps * at.warps_k;
  const InputUnits mine_of_x(depth / 8);
  wait_for_predecessors();

  stage_inputs(at, std::uint64_t{rank} * depth, mine_of_x, shared);
  __syncthreads();
  float sums[kRowTiles][4] = {};
  const unsigned char* inputs =
      shared + lane / 4 * at.layout.input_pitch + lane % 4 * 16 + piece * kSteps * 64;
  multiply<kSteps, kRowTiles>(weights, inputs, at.layout.input_pitch, sums);

  const SumsLayout layout{at.layout.partials, at.layout.partial_pitch, at.layout.inbox};
  store_partials<kRowTiles>(sums, layout.partial_pitch,
                            reinterpret_cast<float*>(shared + layout.partials) +
                                piece * kRowTiles * 8 * layout.partial_pitch +
                                strip * kSlabOutputs);
  __syncthreads();
  const std::uint32_t width = kSlabOutputs * at.strips;
  finish({at.y, at.bias, at.n, std::uint64_t{column_block} * width, at.rows, width, at.warps_k,
          at.splits},
         rank, kRowTiles * 8, layout, shared);
}

using Kernel = void (*)(Arguments);

template <int kSteps>
constexpr Kernel kByRowTiles[4] = {slab<kSteps, 1>, slab<kSteps, 2>, slab<kSteps, 3>,
                                   slab<kSteps, 4>};

Kernel kernel_for(std::uint32_t steps, std::uint32_t rows) {
  static constexpr const Kernel* kBySteps[kMostSlabSteps] = {
      kByRowTiles<1>, kByRowTiles<2>, kByRowTiles<3>, kByRowTiles<4>,
      kByRowTiles<5>, kByRowTiles<6>, kByRowTiles<7>, kByRowTiles<8>};
  return kBySteps[steps - 1][(rows - 1) / 8];
}

// The numbers of a plan that packing needs.
struct Order {
  std::uint64_t k, n, strips, warps_k, splits, steps, warps, units;  // warps: of the grid
};

// One thread, 16 bytes: 8 consecutive k of one output.
__global__ void pack(const __nv_bfloat16* weights, const Order order, __nv_bfloat16* packed) {
  const std::uint64_t unit = packed_unit();
  if (unit >= order.units) return;
  const std::uint64_t within = unit % 64, warp = unit / 64 % order.warps;
  const std::uint64_t step = unit / 64 / order.warps;
  const std::uint64_t strip = warp % order.strips, piece = warp / order.strips % order.warps_k;
  const std::uint64_t block = warp / (order.strips * order.warps_k);
  const std::uint64_t output =
      (block / order.splits * order.strips + strip) * kSlabOutputs + within / 4;
  const std::uint64_t first_step =
      (block % order.splits * order.warps_k + piece) * order.steps + step;
  const std::uint64_t first = first_step * kSlabDepth + within % 4 * 8;
  pack_unit(weights, order.n, order.k, output, first, packed + 8 * unit);
}

}  // namespace

SlabSupport slab_support() {
  cudaFuncAttributes attributes{};
  SlabSupport support;
  support.error = cudaFuncGetAttributes(&attributes, kernel_for(1, 1));
  support.clusters = support.error == cudaSuccess && attributes.ptxVersion >= 90;
  return support;
}

cudaError_t slab_prepare(const SlabPlan& plan) {
  for (std::uint32_t rows = 8; rows <= kMostSlabRows; rows += 8) {
    const cudaError_t result = allow_most_shared_memory(kernel_for(plan.steps, rows));
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

cudaError_t slab_pack(const SlabPlan& plan, const void* weights, void* packed,
                      cudaStream_t stream) {
  const Order order{plan.k,
                    plan.n,
                    plan.strips,
                    plan.warps_k,
                    plan.splits,
                    plan.steps,
                    plan.blocks() * plan.strips * plan.warps_k,
                    plan.weight_bytes() / 16};
  return launch_packing(pack, order.units, stream, static_cast<const __nv_bfloat16*>(weights),
                        order, static_cast<__nv_bfloat16*>(packed));
}

cudaError_t slab_run(const SlabPlan& plan, std::uint32_t rows, const void* packed, const void* x,
                     void* y, const Way& way, const void* bias) {
  const Arguments arguments{static_cast<const uint4*>(packed),
                            static_cast<const __nv_bfloat16*>(x),
                            static_cast<__nv_bfloat16*>(y),
                            static_cast<const __nv_bfloat16*>(bias),
                            plan.k,
                            plan.n,
                            rows,
                            plan.strips,
                            plan.warps_k,
                            plan.splits,
                            slab_layout(plan, rows)};
  return launch(kernel_for(plan.steps, rows), arguments,
                {static_cast<unsigned>(plan.blocks()), plan.threads(), plan.splits,
                 arguments.layout.bytes, way.programmatic},
                way);
}

}  // namespace tare::kernels::cuda
