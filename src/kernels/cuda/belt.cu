#include "kernels/cuda/belt.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/ptx.cuh"
#include "kernels/cuda/sums.cuh"

namespace tare::kernels::cuda {
namespace {

struct Arguments {
  const unsigned char* weights;
  const __nv_bfloat16* x;
  __nv_bfloat16* y;
  std::uint64_t k, n;
  std::uint32_t rows, strips, warps_k, splits, stages, stage_bytes;
  BeltLayout layout;
};

constexpr std::uint32_t kBlockBytes = 1024;  // 16 outputs x 32 k

// The belt in shared memory: barriers `full` and `empty` of every stage, then the stages.
struct Belt {
  unsigned char* shared;
  const BeltLayout& layout;
  __device__ std::uint64_t* full(std::uint32_t place) const {
    return reinterpret_cast<std::uint64_t*>(shared) + place;
  }
  __device__ std::uint64_t* empty(std::uint32_t place) const { return full(16 + place); }
  __device__ unsigned char* stage(std::uint32_t place) const {
    return shared + layout.partials + place * layout.stage_pitch;
  }
};

// k of a stage that lies within the problem; a multiple of 32.
__device__ std::uint32_t depth_of(const Arguments& at, std::uint64_t first_k) {
  if (first_k >= at.k) return 0;
  return at.k - first_k < kStageDepth ? static_cast<std::uint32_t>(at.k - first_k) : kStageDepth;
}

// What the warps that fetch know of their thread block.
struct Part {
  const Arguments& at;
  Belt belt;
  const unsigned char* weights;  // of its first stage
  std::uint64_t first_k;

  // Waits until whoever multiplied what was in the stage's place before is done with it.
  __device__ void wait_for_place(std::uint32_t stage) const {
    const std::uint32_t round = stage / belt.layout.stages;
    if (round > 0) wait_for_barrier(belt.empty(stage % belt.layout.stages), (round + 1) % 2);
  }
};

// One thread. Nothing here depends on the kernel in front.
__device__ void fetch_weights(const Part& part) {
  const Arguments& at = part.at;
  for (std::uint32_t stage = 0; stage < at.stages; ++stage) {
    std::uint64_t* full = part.belt.full(stage % part.belt.layout.stages);
    part.wait_for_place(stage);
    arrive_expecting(full, at.stage_bytes);
    copy_bulk(part.belt.stage(stage % part.belt.layout.stages),
              part.weights + std::uint64_t{stage} * gridDim.x * at.stage_bytes, at.stage_bytes,
              full);
  }
}

// kFeeders warps. Bulk copies of a row's 256 bytes, 32 of them a stage, were no faster.
__device__ void fetch_inputs(const Part& part, std::uint32_t thread) {
  constexpr std::uint32_t kUnits = kStageDepth / 8;
  const Arguments& at = part.at;
  wait_for_predecessors();
  for (std::uint32_t stage = 0; stage < at.stages; ++stage) {
    const std::uint32_t place = stage % part.belt.layout.stages;
    const std::uint64_t k = part.first_k + std::uint64_t{kStageDepth} * stage;
    part.wait_for_place(stage);
    unsigned char* inputs = part.belt.stage(place) + at.stage_bytes;
    for (std::uint32_t i = thread; i < at.rows * kUnits; i += 32 * kFeeders) {
      const std::uint32_t row = i / kUnits, unit = i % kUnits;
      if (k + 8 * unit < at.k)
        copy_async(inputs + row * part.belt.layout.input_pitch + 16 * unit,
                   at.x + row * at.k + k + 8 * unit, true);
    }
    arrive_with_copies(part.belt.full(place));
  }
}

// A lane's 16 bytes are 8 consecutive k of one output, and of one row of x (as in slab.cu).
template <int kRowTiles>
__device__ void multiply(const unsigned char* weights, const unsigned char* inputs,
                         std::uint32_t input_pitch, float (&sums)[kRowTiles][4]) {
  const uint4 upper = *reinterpret_cast<const uint4*>(weights);
  const uint4 lower = *reinterpret_cast<const uint4*>(weights + kBlockBytes / 2);
#pragma unroll
  for (int tile = 0; tile < kRowTiles; ++tile) {
    const uint4 x = *reinterpret_cast<const uint4*>(inputs + tile * 8 * input_pitch);
    multiply_add(sums[tile], upper.x, lower.x, upper.y, lower.y, x.x, x.y);
    multiply_add(sums[tile], upper.z, lower.z, upper.w, lower.w, x.z, x.w);
  }
}

// A warp's steps of a stage, all of them within k: unrolled, so that the loads of one step run
// beside the sums of the one before. One step after the other left 63 to 72 % of the issue slots
// without an eligible warp at 32 rows.
template <int kRowTiles, int kSteps>
__device__ void multiply_all(const unsigned char* weights, const unsigned char* inputs,
                             std::uint32_t input_pitch, float (&sums)[kRowTiles][4]) {
#pragma unroll
  for (int step = 0; step < kSteps; ++step)
    multiply<kRowTiles>(weights + step * kBlockBytes, inputs + step * 64, input_pitch, sums);
}

template <int kRowTiles, int kSteps>
__device__ void consume(const Arguments& at, const Belt& belt, std::uint64_t first_k,
                        std::uint32_t strip, std::uint32_t piece, float (&sums)[kRowTiles][4]) {
  const std::uint32_t lane = threadIdx.x % 32, pitch = belt.layout.input_pitch;
  const std::uint32_t first_step = piece * kSteps;
  const unsigned char* weights =
      belt.stage(0) + (strip * kStageSteps + first_step) * kBlockBytes + lane * 16;
  const unsigned char* inputs =
      belt.stage(0) + at.stage_bytes + lane / 4 * pitch + lane % 4 * 16 + first_step * 64;
  std::uint32_t place = 0, round = 0;
  for (std::uint32_t stage = 0; stage < at.stages; ++stage) {
    const std::uint32_t depth = depth_of(at, first_k + std::uint64_t{kStageDepth} * stage);
    const std::uint32_t offset = place * belt.layout.stage_pitch;
    wait_for_barrier(belt.full(place), round % 2);
    if (depth == kStageDepth) {
      multiply_all<kRowTiles, kSteps>(weights + offset, inputs + offset, pitch, sums);
    } else {
      for (std::uint32_t step = 0; step < kSteps && 32 * (first_step + step) < depth; ++step)
        multiply<kRowTiles>(weights + offset + step * kBlockBytes, inputs + offset + step * 64,
                            pitch, sums);
    }
    __syncwarp();
    if (lane == 0) arrive(belt.empty(place));
    if (++place == belt.layout.stages) {
      place = 0;
      ++round;
    }
  }
}

// 72 registers: three thread blocks of seven warps fit a multiprocessor, and some of the next
// kernel's; at 86, three did not, and 32 rows of 4096x4096 took 21.4 us for 14.9.
template <int kRowTiles>
__global__ void __maxnreg__(72) belt_kernel(const __grid_constant__ Arguments at) {
  extern __shared__ __align__(128) unsigned char shared[];
  const Belt belt{shared, at.layout};
  const std::uint32_t warp = threadIdx.x / 32, consumers = at.strips * at.warps_k;
  const std::uint32_t rank = blockIdx.x % at.splits, column_block = blockIdx.x / at.splits;
  if (threadIdx.x < at.layout.stages) {
    init_barrier(belt.full(threadIdx.x), 1 + 32 * kFeeders);
    init_barrier(belt.empty(threadIdx.x), consumers);
  }
  publish_barriers();
  __syncthreads();
  let_successors_start();
  if (at.splits > 1) arrive_at_cluster();

  const std::uint64_t first_k = std::uint64_t{rank} * at.stages * kStageDepth;
  const std::uint32_t strip = warp % at.strips, piece = warp / at.strips;
  float sums[kRowTiles][4] = {};
  const Part part{at, belt, at.weights + std::uint64_t{blockIdx.x} * at.stage_bytes, first_k};
  if (warp > consumers) {
    fetch_inputs(part, threadIdx.x - 32 * (consumers + 1));
  } else if (warp == consumers) {
    if (threadIdx.x % 32 == 0) fetch_weights(part);
  } else if (at.warps_k == 1) {
    consume<kRowTiles, 4>(at, belt, first_k, strip, piece, sums);
  } else if (at.warps_k == 2) {
    consume<kRowTiles, 2>(at, belt, first_k, strip, piece, sums);
  } else {
    consume<kRowTiles, 1>(at, belt, first_k, strip, piece, sums);
  }
  __syncthreads();  // the belt has run dry: partial sums take its place

  const SumsLayout layout{at.layout.partials, at.layout.partial_pitch, at.layout.inbox};
  if (warp < consumers)
    store_partials<kRowTiles>(sums, layout.partial_pitch,
                              reinterpret_cast<float*>(shared + layout.partials) +
                                  piece * kRowTiles * 8 * layout.partial_pitch + strip * 16);
  __syncthreads();
  const std::uint32_t width = 16 * at.strips;
  finish({at.y, at.n, std::uint64_t{column_block} * width, at.rows, width, at.warps_k, at.splits},
         rank, kRowTiles * 8, layout, shared);
}

using Kernel = void (*)(Arguments);
constexpr Kernel kByRowTiles[4] = {belt_kernel<1>, belt_kernel<2>, belt_kernel<3>, belt_kernel<4>};

// The numbers of a plan that packing needs.
struct Order {
  std::uint64_t k, n, strips, splits, stages, blocks, units;
};

// One thread, 16 bytes: 8 consecutive k of one output.
__global__ void pack(const __nv_bfloat16* weights, const Order order, __nv_bfloat16* packed) {
  const std::uint64_t unit = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (unit >= order.units) return;
  const std::uint64_t within = unit % 64, block = unit / 64;
  const std::uint64_t step = block % kStageSteps, strip = block / kStageSteps % order.strips;
  const std::uint64_t piece = block / (kStageSteps * order.strips);
  const std::uint64_t thread_block = piece % order.blocks, stage = piece / order.blocks;
  const std::uint64_t column_block = thread_block / order.splits;
  const std::uint64_t first_stage = thread_block % order.splits * order.stages;
  const std::uint64_t output = (column_block * order.strips + strip) * 16 + within / 4;
  const std::uint64_t first = (first_stage + stage) * kStageDepth + step * 32 + within % 4 * 8;
  for (std::uint32_t e = 0; e < 8; ++e) {
    const bool inside = output < order.n && first + e < order.k;
    packed[8 * unit + e] =
        inside ? weights[output * order.k + first + e] : __float2bfloat16_rn(0.0F);
  }
}

}  // namespace

cudaError_t belt_prepare() {
  for (const Kernel kernel : kByRowTiles) {
    const cudaError_t result = allow_most_shared_memory(reinterpret_cast<const void*>(kernel));
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

cudaError_t belt_pack(const BeltPlan& plan, const void* weights, void* packed,
                      cudaStream_t stream) {
  constexpr unsigned kThreads = 256;
  const Order order{plan.k,
                    plan.n,
                    plan.strips,
                    plan.splits,
                    plan.stages(),
                    plan.blocks(),
                    plan.weight_bytes() / 16};
  pack<<<static_cast<unsigned>((order.units + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
      static_cast<const __nv_bfloat16*>(weights), order, static_cast<__nv_bfloat16*>(packed));
  return cudaGetLastError();
}

cudaError_t belt_run(const BeltPlan& plan, std::uint32_t rows, const void* packed, const void* x,
                     void* y, bool programmatic, cudaStream_t stream) {
  const Arguments arguments{static_cast<const unsigned char*>(packed),
                            static_cast<const __nv_bfloat16*>(x),
                            static_cast<__nv_bfloat16*>(y),
                            plan.k,
                            plan.n,
                            rows,
                            plan.strips,
                            plan.warps_k,
                            plan.splits,
                            static_cast<std::uint32_t>(plan.stages()),
                            static_cast<std::uint32_t>(plan.stage_bytes()),
                            belt_layout(plan, rows)};
  return launch(kByRowTiles[(rows - 1) / 8], arguments,
                {static_cast<unsigned>(plan.blocks()), plan.threads(), plan.splits,
                 arguments.layout.bytes, programmatic},
                stream);
}

}  // namespace tare::kernels::cuda
