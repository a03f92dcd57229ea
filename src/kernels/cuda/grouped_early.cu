// Few rows of weights by group: every warp loads all its codes into registers before it looks at x,
// so that after the wait for the kernel in front there is nothing left but x, decoding and
// products.
#include <algorithm>
#include <array>

#include "kernels/cuda/grouped_early.h"
#include "kernels/cuda/grouped_math.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/sums.cuh"

namespace tare::kernels::cuda {
namespace {

constexpr std::uint32_t kBoxBytes = kUnitDepth * 2;  // of a row's unit

// A thread block has one strip of 32 outputs and all of k, a warp `units` units of it.
struct EarlyWork {
  const unsigned char* weights;
  const __nv_bfloat16* x;
  __nv_bfloat16* y;
  const __nv_bfloat16* bias;  // Outputs'
  std::uint64_t k, n;
  QueueOrder order;
  std::uint32_t rows, pieces, parts, stages;  // as QueueWork's
  std::uint32_t strips;
  EarlyLayout layout;
};

// More thread blocks than strips repeat the first ones' work and write nothing: where all
// multiprocessors but a few have a thread block of a dispatch, one of them would get two of the
// next, which then takes half as long again.
__device__ __forceinline__ std::uint32_t strip_of(const EarlyWork& at) {
  return blockIdx.x < at.strips ? blockIdx.x : blockIdx.x - at.strips;
}
std::uint32_t padded_blocks(std::uint32_t strips) {
  constexpr std::uint32_t kProcessors = 132, kSpare = kProcessors / 10;  // of an H200
  const std::uint32_t missing = (kProcessors - strips % kProcessors) % kProcessors;
  return strips + (missing <= std::min(kSpare, strips) ? missing : 0);
}

// Of a warp: where its units lie.
struct EarlyShare {
  std::uint32_t part, piece, per_stage;

  __device__ explicit EarlyShare(const EarlyWork& at)
      : part(threadIdx.x / 32 / at.pieces),
        piece(threadIdx.x / 32 % at.pieces),
        per_stage(kStageUnits / at.pieces) {}
  __device__ std::uint32_t stage(std::uint32_t unit) const { return unit / per_stage; }
  __device__ std::uint32_t in_stage(std::uint32_t unit) const {
    return piece * per_stage + unit % per_stage;
  }
};

template <GroupedFormat kFormat, int kUnits>
__device__ __forceinline__ void load_weights(const EarlyWork& at, const EarlyShare& mine,
                                             Codes<kFormat> (&codes)[kUnits],
                                             unsigned char* scales) {
  constexpr std::uint32_t kUnitBytes = kGroupedOutputs * kUnitDepth * kFormat.bits / 8;
  constexpr std::uint32_t kGroupBytes = kGroupedOutputs * kFormat.scale_bytes;
  const std::uint32_t lane = threadIdx.x % 32, strip = strip_of(at);
#pragma unroll
  for (int i = 0; i < kUnits; ++i) {
    const unsigned char* stage =
        at.weights + at.order.place_of(mine.stage(i), mine.part, strip) * kFormat.strip_bytes;
    const std::uint32_t unit = mine.in_stage(i);
#pragma unroll
    for (int plane = 0; plane < 2 * Codes<kFormat>::kPlanes; ++plane)
      codes[i].planes[plane] = load_once(
          reinterpret_cast<const uint4*>(stage + unit * kUnitBytes + plane * 512 + lane * 16));
    if (lane < kGroupBytes / 16)
      copy_async(scales + i * kGroupBytes + lane * 16,
                 stage + kFormat.code_bytes + unit / kFormat.group_units * kGroupBytes + lane * 16,
                 true);
  }
}

// A warp's scales as multiply_unit() wants them, while there is time: [unit][output: lane / 4 of 8,
// then of 4] scale and bias.
template <GroupedFormat kFormat, int kUnits>
__device__ __forceinline__ void convert_scales(const unsigned char* scales, float2* converted) {
  constexpr std::uint32_t kGroupBytes = kGroupedOutputs * kFormat.scale_bytes;
  const std::uint32_t lane = threadIdx.x % 32;
  wait_for_copies();
  __syncwarp();
#pragma unroll
  for (int i = 0; i < kUnits; ++i) {
    const unsigned char* mine = scales + i * kGroupBytes + lane * kFormat.scale_bytes;
    std::uint32_t pair = 0;
    if constexpr (kFormat.biased)
      pair = *reinterpret_cast<const std::uint32_t*>(mine);
    else
      pair = *reinterpret_cast<const std::uint16_t*>(mine);
    const float scale = low_half(pair);
    converted[i * kGroupedOutputs + lane] = {
        scale, fmaf(static_cast<float>(kFormat.offset), scale, high_half(pair))};
  }
  __syncwarp();
}

__device__ __forceinline__ Scales scales_of(const float2* converted) {
  const auto* mine = reinterpret_cast<const float4*>(converted + threadIdx.x % 32 / 4 * 4);
  const float4 first = mine[0], second = mine[1];
  return {{first.x, first.z, second.x, second.z}, {first.y, first.w, second.y, second.w}};
}

// What a warp needs of x: [unit][row], laid out as boxes are.
template <int kUnits, bool kOneRow>
__device__ __forceinline__ void load_inputs_held(const EarlyWork& at, const EarlyShare& mine,
                                                 unsigned char* held) {
  const std::uint32_t rows = kOneRow ? 1 : at.rows, eighth = threadIdx.x % 8;
  const auto copy = [&](std::uint32_t unit, std::uint32_t row) {
    const std::uint64_t k = (std::uint64_t{mine.part * at.stages + mine.stage(unit)} * kStageUnits +
                             mine.in_stage(unit)) *
                                kUnitDepth +
                            eighth * 8;
    copy_async(held + (unit * rows + row) * kBoxBytes + (eighth ^ row) * 16,
               k < at.k ? at.x + row * at.k + k : at.x, k < at.k);
  };
  const std::uint32_t fourth = threadIdx.x % 32 / 8;  // a quarter of a warp brings a row's unit
#pragma unroll
  for (std::uint32_t unit = 0; unit < kUnits; unit += kOneRow ? 4 : 1) {
    if constexpr (kOneRow) {
      if (unit + fourth < kUnits) copy(unit + fourth, 0);
    } else {
      for (std::uint32_t row = fourth; row < rows; row += 4) copy(unit, row);
    }
  }
  wait_for_copies();
  __syncwarp();
}

// [piece of all][row][output], of the rows that there are.
template <bool kOneRow>
__device__ __forceinline__ void store_sums(const EarlyWork& at, const float (&sums)[2][1][4],
                                           float* partials) {
  const std::uint32_t lane = threadIdx.x % 32, row = lane % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (row + i % 2 < (kOneRow ? 1 : at.rows))
        partials[(row + i % 2) * kEarlyPitch + lane / 4 + half * 16 + i / 2 * 8] = sums[half][0][i];
}

// Pieces of a part ascending, then parts: the order of sums.cuh. All of them are asked for before
// the first is added.
__device__ __forceinline__ float add_up_pieces(const EarlyWork& at, const float* piece,
                                               std::uint32_t stride) {
  const std::uint32_t count = at.pieces * at.parts, last = at.pieces - 1;  // powers of two
  float values[kMostEarlyWarps];
#pragma unroll
  for (std::uint32_t i = 0; i < kMostEarlyWarps; ++i)
    values[i] = i < count ? piece[i * stride] : 0.0F;
  float sum = 0, part = 0;
#pragma unroll
  for (std::uint32_t i = 0; i < kMostEarlyWarps; ++i) {
    if (i >= count) continue;
    part = (i & last) == 0 ? values[i] : part + values[i];
    if ((i & last) == last) sum = i < at.pieces ? part : sum + part;
  }
  return sum;
}

__device__ __forceinline__ void write_outputs(const EarlyWork& at, const float* partials) {
  const std::uint32_t lane = threadIdx.x % 32, stride = at.rows * kEarlyPitch;
  const std::uint64_t output = std::uint64_t{blockIdx.x} * kGroupedOutputs + lane;
  for (std::uint32_t row = threadIdx.x / 32; row < at.rows; row += blockDim.x / 32) {
    const float sum = add_up_pieces(at, partials + row * kEarlyPitch + lane, stride);
    if (output < at.n)
      at.y[row * at.n + output] = __float2bfloat16_rn(with_bias(at.bias, output, sum));
  }
}

template <std::uint32_t kType, int kUnits, bool kOneRow>
__global__ void __maxnreg__(kUnits*(kFormatOf<kType>.bits / 4) > 4 ? 128 : 96)
    early_kernel(const __grid_constant__ EarlyWork at) {
  constexpr GroupedFormat kFormat = kFormatOf<kType>;
  constexpr std::uint32_t kGroupBytes = kGroupedOutputs * kFormat.scale_bytes;
  extern __shared__ __align__(128) unsigned char shared[];
  const std::uint32_t warp = threadIdx.x / 32;
  const EarlyShare mine(at);
  unsigned char* scales = shared + at.layout.scales + warp * kUnits * kGroupBytes;
  Codes<kFormat> codes[kUnits];
  load_weights<kFormat, kUnits>(at, mine, codes, scales);
  let_successors_start();
  ask_for_inputs(at.x, 2 * at.k * at.rows, blockDim.x);
  auto* converted =
      reinterpret_cast<float2*>(shared + at.layout.converted) + warp * kUnits * kGroupedOutputs;
  convert_scales<kFormat, kUnits>(scales, converted);
  wait_for_predecessors();

  const std::uint32_t rows = kOneRow ? 1 : at.rows;
  unsigned char* held = shared + warp * kUnits * rows * kBoxBytes;
  load_inputs_held<kUnits, kOneRow>(at, mine, held);
  float sums[2][1][4] = {};
#pragma unroll
  for (int i = 0; i < kUnits; ++i)
    multiply_unit<kFormat, 1>(codes[i], scales_of(converted + i * kGroupedOutputs),
                              held + i * rows * kBoxBytes, rows - 1, sums);
  auto* partials = reinterpret_cast<float*>(shared + at.layout.partials);
  store_sums<kOneRow>(at, sums, partials + warp * rows * kEarlyPitch);
  __syncthreads();
  if (blockIdx.x < at.strips) write_outputs(at, partials);
}

using Kernel = void (*)(EarlyWork);

// By units of a warp, less one; for several rows, and for one. Null where there is none.
using Kernels = std::array<std::array<Kernel, 2>, 8>;

template <std::uint32_t kType, int kUnits>
constexpr std::array<Kernel, 2> kernels_for() {
  if constexpr (has_early_kernel(kUnits) && kUnits <= most_early_units(kFormatOf<kType>))
    return {early_kernel<kType, kUnits, false>, early_kernel<kType, kUnits, true>};
  else
    return {};
}

template <std::uint32_t kType>
constexpr Kernels kKernels{kernels_for<kType, 1>(), kernels_for<kType, 2>(),
                           kernels_for<kType, 3>(), kernels_for<kType, 4>(),
                           kernels_for<kType, 5>(), kernels_for<kType, 6>(),
                           kernels_for<kType, 7>(), kernels_for<kType, 8>()};

const Kernels& kernels_of(std::uint32_t type) {
  return with_packed_type(type,
                          []<std::uint32_t kType>() -> const Kernels& { return kKernels<kType>; });
}

}  // namespace

cudaError_t grouped_early_prepare(const GroupedPlan& plan) {
  return allow_most_shared_memory(kernels_of(plan.type)[plan.early_units() - 1]);
}

cudaError_t grouped_early_run(const GroupedPlan& plan, std::uint32_t rows, const void* packed,
                              const void* x, void* y, const Way& way, const void* bias) {
  const EarlyWork work{.weights = static_cast<const unsigned char*>(packed),
                       .x = static_cast<const __nv_bfloat16*>(x),
                       .y = static_cast<__nv_bfloat16*>(y),
                       .bias = static_cast<const __nv_bfloat16*>(bias),
                       .k = plan.k,
                       .n = plan.n,
                       .order = plan.order(),
                       .rows = rows,
                       .pieces = plan.warps_k,
                       .parts = plan.parts,
                       .stages = static_cast<std::uint32_t>(plan.stages()),
                       .strips = static_cast<std::uint32_t>(plan.launch(rows).blocks),
                       .layout = early_layout(plan, rows)};
  const Kernel kernel = kernels_of(plan.type)[plan.early_units() - 1][rows == 1 ? 1 : 0];
  const GroupedLaunch how = plan.launch(rows);
  return launch(
      kernel, work,
      {padded_blocks(work.strips), 32 * how.consumers, 1, work.layout.bytes, way.programmatic},
      way);
}

}  // namespace tare::kernels::cuda
