// One row of many weights by group: half of every multiprocessor has one thread block, which takes
// strips after strips from its queue. The other half is the next dispatch's, which fills its queue
// while this one's last sums are made.
#include <array>

#include "kernels/cuda/grouped_math.cuh"
#include "kernels/cuda/grouped_stay.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/queue.cuh"

namespace tare::kernels::cuda {
namespace {

// Of a warp: half a strip's outputs, its part of k as far as a thread block has several, its piece
// of that.
struct Share {
  std::uint32_t strip, half, fold, piece;

  __device__ explicit Share(const QueueWork& at) {
    const std::uint32_t warp = threadIdx.x / 32, rest = warp / at.strips / 2;
    strip = warp % at.strips;
    half = warp / at.strips % 2;
    fold = rest / at.pieces;
    piece = rest % at.pieces;
  }
};

__device__ __forceinline__ void meet_consumers(const QueueWork& at) {
  asm volatile("bar.sync 1, %0;" ::"r"(32 * at.consumers) : "memory");
}

// One thread: the stages of all strips, one behind the other.
__device__ void feed_all(const QueueWork& at, const Queue& queue, std::uint32_t tasks) {
  Feeder feeder(at, queue);
  Turn turn{0, 1};  // the first time round everything is empty
  for (std::uint32_t task = blockIdx.x; task < tasks; task += gridDim.x) {
    feeder.begin(task * at.strips, 0);
    for (std::uint32_t stage = 0; stage < at.stages; ++stage) {
      wait_for_barrier(queue.empty(turn.place), turn.parity);
      feeder.fetch_weights(turn.place);
      turn.next(at.layout.stages);
    }
  }
  if (at.late) let_successors_start();
}

// All of x, laid out as boxes are, and its sum over each unit.
template <bool kTotals>
__device__ void hold_inputs(const QueueWork& at, std::uint32_t units, unsigned char* held,
                            float* totals) {
  const std::uint32_t threads = 32 * at.consumers;
  wait_for_predecessors();
  for (std::uint32_t i = threadIdx.x; i < units * 8; i += threads) {
    const std::uint64_t k = std::uint64_t{i} * 8;
    copy_async(held + i * 16, k < at.k ? at.x + k : at.x, k < at.k);
  }
  wait_for_copies();
  meet_consumers(at);
  if constexpr (kTotals) {
    for (std::uint32_t unit = threadIdx.x / 32; unit < units; unit += at.consumers) {
      const Inputs x = load_inputs(held + unit * 128, 0);
      float total[4] = {};
#pragma unroll
      for (int product = 0; product < kProducts; ++product)
        multiply_add(total, kOnes, kOnes, kOnes, kOnes, x.pairs[product][0], x.pairs[product][1]);
      if (threadIdx.x % 32 == 0) totals[unit] = total[0];
    }
    meet_consumers(at);
  }
}

// Scales of two outputs, lane / 4 + 0 and 8 of the half, and what the sum of x is multiplied by.
struct HalfScales {
  float scale[2], bias[2];
};
template <GroupedFormat kFormat>
__device__ __forceinline__ HalfScales load_half_scales(const unsigned char* group,
                                                       std::uint32_t half) {
  const unsigned char* mine = group + (threadIdx.x % 32 / 4 * 4 + half * 2) * kFormat.scale_bytes;
  HalfScales scales;
  if constexpr (kFormat.biased) {
    const uint2 both = *reinterpret_cast<const uint2*>(mine);
    scales = {{low_half(both.x), low_half(both.y)}, {high_half(both.x), high_half(both.y)}};
  } else {
    const auto both = *reinterpret_cast<const std::uint32_t*>(mine);
    scales = {{low_half(both), high_half(both)}, {}};
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
    scales.bias[i] = fmaf(static_cast<float>(kFormat.offset), scales.scale[i], scales.bias[i]);
  return scales;
}

// multiply_unit() of half a strip and one row: sums of outputs lane / 4 + 0 and 8, in the lanes
// that have row 0.
template <GroupedFormat kFormat>
__device__ __forceinline__ void multiply_half_unit(const unsigned char* codes,
                                                   const unsigned char* group, std::uint32_t half,
                                                   const unsigned char* box, const float* total,
                                                   float (&sums)[2]) {
  constexpr int kPlanes = Codes<kFormat>::kPlanes;
  uint4 planes[kPlanes];
#pragma unroll
  for (int plane = 0; plane < kPlanes; ++plane)
    planes[plane] = *reinterpret_cast<const uint4*>(codes + plane * 512);
  Operand w;
  decode<kFormat>(planes, w);
  const HalfScales scales = load_half_scales<kFormat>(group, half);
  const Inputs x = load_inputs(box, 0);
  float products[4] = {};
#pragma unroll
  for (int product = 0; product < kProducts; ++product)
    multiply_add(products, w[product][0], w[product][1], w[product][2], w[product][3],
                 x.pairs[product][0], x.pairs[product][1]);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    sums[i] = fmaf(scales.scale[i], products[2 * i], sums[i]);
    if constexpr (kNeedsTotal<kFormat>) sums[i] = fmaf(scales.bias[i], *total, sums[i]);
  }
}

// A warp's share of the stages of a thread block's strips: kUnits of each.
template <GroupedFormat kFormat, int kUnits>
__device__ __forceinline__ void consume(const QueueWork& at, const Queue& queue, const Share& mine,
                                        const unsigned char* held, const float* totals, Turn& turn,
                                        float (&sums)[2]) {
  constexpr std::uint32_t kHalfBytes = 512 * Codes<kFormat>::kPlanes;
  constexpr std::uint32_t kGroupBytes = kGroupedOutputs * kFormat.scale_bytes;
  const std::uint32_t strip = mine.fold * at.part_bytes() + mine.strip * kFormat.strip_bytes;
  const std::uint32_t codes = strip + mine.half * kHalfBytes + threadIdx.x % 32 * 16;
  std::uint32_t unit = mine.fold * at.stages * kStageUnits + mine.piece * kUnits;  // of all of k
  for (std::uint32_t stage = 0; stage < at.stages; ++stage, unit += kStageUnits) {
    wait_for_barrier(queue.full(turn.place), turn.parity);
    const unsigned char* here = queue.shared + queue.stage(turn.place);
#pragma unroll
    for (int i = 0; i < kUnits; ++i) {
      const std::uint32_t in_stage = mine.piece * kUnits + i;
      multiply_half_unit<kFormat>(
          here + codes + in_stage * 2 * kHalfBytes,
          here + strip + kFormat.code_bytes + in_stage / kFormat.group_units * kGroupBytes,
          mine.half, held + (unit + i) * 128, totals + unit + i, sums);
    }
    arrive(queue.empty(turn.place));
    turn.next(at.layout.stages);
  }
}

template <GroupedFormat kFormat, int kUnits>
__device__ void multiply_all(const QueueWork& at, const Queue& queue, std::uint32_t tasks) {
  const Share mine(at);
  const std::uint32_t units = at.folds * at.stages * kStageUnits, lane = threadIdx.x % 32;
  const std::uint32_t width = kGroupedOutputs * at.strips, pieces = at.folds * at.pieces;
  unsigned char* held = queue.shared + at.layout.held;
  auto* totals = reinterpret_cast<float*>(held + units * 128);
  auto* partials = reinterpret_cast<float*>(queue.shared + at.layout.inbox);
  hold_inputs<kNeedsTotal<kFormat>>(at, units, held, totals);
  Turn turn;
  std::uint32_t place = 0;  // of sums, in turns, so that one meeting a task is enough
  for (std::uint32_t task = blockIdx.x; task < tasks; task += gridDim.x, place ^= 1) {
    float sums[2] = {};
    consume<kFormat, kUnits>(at, queue, mine, held, totals, turn, sums);
    float* here = partials + place * pieces * width;
    if (lane % 4 == 0) {
      float* into = here + (mine.fold * at.pieces + mine.piece) * width +
                    mine.strip * kGroupedOutputs + mine.half * 16 + lane / 4;
      into[0] = sums[0];
      into[8] = sums[1];
    }
    meet_consumers(at);
    write_singly(
        {at.y, at.bias, at.n, std::uint64_t{task} * width, 1, width, at.pieces, 1, at.folds}, here,
        width, width);
  }
}

constexpr int kRegisters = 112;  // of a thread: two thread blocks of nine warps a multiprocessor

template <std::uint32_t kType>
__global__ void __maxnreg__(kRegisters) stay_kernel(const __grid_constant__ QueueWork at) {
  constexpr GroupedFormat kFormat = kFormatOf<kType>;
  extern __shared__ __align__(1024) unsigned char shared[];
  const Queue queue(shared, at.layout);
  const std::uint32_t tasks = at.order.columns * at.order.strips / at.strips;
  begin_queue(at, queue, 32 * at.consumers);
  if (threadIdx.x == 32 * at.consumers) feed_all(at, queue, tasks);
  if (threadIdx.x < 32 * at.consumers) {
    if (at.pieces == 1)
      multiply_all<kFormat, 4>(at, queue, tasks);
    else if (at.pieces == 2)
      multiply_all<kFormat, 2>(at, queue, tasks);
    else
      multiply_all<kFormat, 1>(at, queue, tasks);
  }
  __syncwarp();  // the thread that fed comes from another branch than its warp
  __syncthreads();
  forget_barriers(at, queue);
}

using Kernel = void (*)(QueueWork);

Kernel kernel_of(std::uint32_t type) {
  return with_packed_type(type, []<std::uint32_t kType>() -> Kernel { return stay_kernel<kType>; });
}

}  // namespace

cudaError_t grouped_stay_prepare(const GroupedPlan& plan) {
  return allow_most_shared_memory(kernel_of(plan.type));
}

cudaError_t grouped_stay_run(const GroupedPlan& plan, const void* packed, const void* x, void* y,
                             const Way& way, const void* bias) {
  const GroupedLaunch how = plan.launch(1);
  const QueueWork work{.inputs = {},
                       .x = static_cast<const __nv_bfloat16*>(x),
                       .weights = static_cast<const unsigned char*>(packed),
                       .y = static_cast<__nv_bfloat16*>(y),
                       .bias = static_cast<const __nv_bfloat16*>(bias),
                       .k = plan.k,
                       .n = plan.n,
                       .order = plan.order(),
                       .rows = 1,
                       .strips = how.strips,
                       .strip_bytes = grouped_format(plan.type)->strip_bytes,
                       .pieces = plan.warps_k,
                       .splits = how.splits,
                       .folds = how.folds,
                       .stages = static_cast<std::uint32_t>(plan.stages()),
                       .depth = 0,
                       .consumers = how.consumers,
                       .late = plan.late,
                       .layout = grouped_layout(plan, 1)};
  return launch(kernel_of(plan.type), work,
                {static_cast<unsigned>(how.blocks), 32 * (how.consumers + 1), how.splits,
                 work.layout.bytes, way.programmatic},
                way);
}

}  // namespace tare::kernels::cuda
