#include "kernels/cuda/belt.h"
#include "kernels/cuda/input_map.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/pack.cuh"
#include "kernels/cuda/queue.cuh"

namespace tare::kernels::cuda {
namespace {

constexpr std::uint32_t kHalfBytes = kBeltOutputs * kBoxDepth * 2;  // of a strip's stage
constexpr std::uint32_t kStep = 2;  // 16 k further on, in units of 16 bytes

// A warpgroup's share of all stages: kHalves of each. Where the thread block has several parts of
// k, each is summed for itself, and then all, ascending.
template <int kRowTiles, int kHalves>
__device__ __forceinline__ void consume(const QueueWork& at, const Queue& queue,
                                        std::uint32_t strip, std::uint32_t piece,
                                        float (&sums)[kRowTiles][4]) {
  const std::uint32_t first_half = piece * kHalves;
  // With few stages in flight each is given back at once; with more, the products of one run while
  // the next is awaited.
  const bool at_once = at.layout.stages <= 4;
  float done[kRowTiles][4];  // of the parts before
  Turn turn;
  std::uint32_t before = 0, left = at.stages;  // the stage that runs, if one does; of the part
  bool runs = false, kept = false;
  for (std::uint32_t stage = 0; stage < at.stages * at.rounds; ++stage) {
    wait_for_barrier(queue.full(turn.place), turn.parity);
    const std::uint32_t here = queue.address + queue.stage(turn.place);
    const std::uint32_t weights = here + (2 * strip + first_half) * kHalfBytes;
    const std::uint32_t inputs = here + at.layout.inputs + first_half * at.layout.box_pitch;
    begin_batch();
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      const std::uint64_t w = operand_at(weights + half * kHalfBytes);
      const std::uint64_t x = operand_at(inputs + half * at.layout.box_pitch);
#pragma unroll
      for (std::uint32_t step = 0; step < kBoxDepth / 16; ++step)
        multiply_add<kRowTiles>(sums, w + kStep * step, x + kStep * step,
                                kept || half > 0 || step > 0);
    }
    end_batch();
    kept = --left > 0;
    const bool all = at_once || !kept;
    if (all)
      wait_for_batches<0>();
    else
      wait_for_batches<1>();
    if (threadIdx.x % 32 == 0) {
      if (runs) arrive(queue.empty(before));
      if (all) arrive(queue.empty(turn.place));
    }
    runs = !all;
    before = turn.place;
    if (!kept && at.rounds > 1) {
      const bool first = stage < at.stages;
      wait_for_batches<0>();  // they are done: for the compiler, which else makes all of them wait
#pragma unroll
      for (int tile = 0; tile < kRowTiles; ++tile)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          done[tile][i] = first ? sums[tile][i] : done[tile][i] + sums[tile][i];
      left = at.stages;
    }
    turn.next(at.layout.stages);
  }
  wait_for_batches<0>();
  if (at.rounds == 1) return;
#pragma unroll
  for (int tile = 0; tile < kRowTiles; ++tile)
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[tile][i] = done[tile][i];
}

template <int kRowTiles>
__global__ void belt_kernel(const __grid_constant__ QueueWork at) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const Queue queue(shared, at.layout);
  const std::uint32_t warp = threadIdx.x / 32, group = warp / 4;
  const std::uint32_t strip = group % at.strips, piece = group / at.strips;
  begin_queue(at, queue, at.consumers);
  float sums[kRowTiles][4] = {};
  if (warp == at.consumers) {
    if (threadIdx.x % 32 == 0) feed(at, queue);
  } else if (at.pieces == 1) {
    consume<kRowTiles, 2>(at, queue, strip, piece, sums);
  } else {
    consume<kRowTiles, 1>(at, queue, strip, piece, sums);
  }
  const std::uint32_t first = strip * kBeltOutputs + warp % 4 * 16;  // output of the warp
  if (at.direct) {
    end_queue_directly(at, queue, kBeltOutputs * at.strips, [&](auto&& put) {
      each_sum<kRowTiles>(sums, [&](std::uint32_t row, std::uint32_t output, float sum) {
        put(row, first + output, sum);
      });
    });
    return;
  }
  end_queue(at, queue, kBeltOutputs * at.strips, 8 * kRowTiles,
            [&](float* partials, std::uint32_t pitch) {
              store_partials<kRowTiles>(sums, pitch,
                                        partials + piece * 8 * kRowTiles * pitch + first);
            });
}

using Kernel = void (*)(QueueWork);
constexpr Kernel kByRowTiles[4] = {belt_kernel<1>, belt_kernel<2>, belt_kernel<3>, belt_kernel<4>};

// The numbers of a plan that packing needs.
struct Source {
  std::uint64_t k, n, stages, units;
  QueueOrder order;
};

// One thread, 16 bytes: 8 consecutive k of one output.
__global__ void pack(const __nv_bfloat16* weights, const Source from, __nv_bfloat16* packed) {
  const std::uint64_t unit = packed_unit();
  if (unit >= from.units) return;
  const std::uint64_t row = unit / 8 % kBeltOutputs, eighth = unit % 8 ^ row % 8;
  const std::uint64_t half = unit / (8 * kBeltOutputs) % 2;
  const QueueOrder::Strip at = from.order.strip_at(unit / (16 * kBeltOutputs));
  const std::uint64_t output = at.strip * kBeltOutputs + row;
  const std::uint64_t first =
      (at.part * from.stages + at.stage) * kStageDepth + half * kBoxDepth + eighth * 8;
  pack_unit(weights, from.n, from.k, output, first, packed + 8 * unit);
}

}  // namespace

cudaError_t belt_prepare() {
  return allow_most_shared_memory(kByRowTiles);
}

cudaError_t belt_pack(const BeltPlan& plan, const void* weights, void* packed,
                      cudaStream_t stream) {
  const Source from{plan.k, plan.n, plan.stages(), plan.weight_bytes() / 16, plan.order()};
  return launch_packing(pack, from.units, stream, static_cast<const __nv_bfloat16*>(weights), from,
                        static_cast<__nv_bfloat16*>(packed));
}

cudaError_t belt_run(const BeltPlan& plan, std::uint32_t rows, const void* packed, const void* x,
                     void* y, const Way& way, const void* bias) {
  const BeltLaunch& how = plan.launch(rows);
  QueueWork work{.inputs = {},
                 .x = static_cast<const __nv_bfloat16*>(x),
                 .weights = static_cast<const unsigned char*>(packed),
                 .y = static_cast<__nv_bfloat16*>(y),
                 .bias = static_cast<const __nv_bfloat16*>(bias),
                 .k = plan.k,
                 .n = plan.n,
                 .order = plan.order(),
                 .rows = rows,
                 .strips = how.strips,
                 .strip_bytes = 2 * kHalfBytes,
                 .pieces = plan.warps_k,
                 .splits = plan.cluster(rows),
                 .folds = 1,
                 .stages = static_cast<std::uint32_t>(plan.stages()),
                 .depth = kStageDepth,
                 .consumers = plan.consumers(rows),
                 .rounds = plan.rounds(rows),
                 .direct = plan.direct(rows),
                 .asked = asked_stages(plan.stages_of_block(rows), how.late),
                 .layout = belt_layout(plan, rows)};
  const cudaError_t mapped = map_inputs(x, plan.k, rows, work.inputs);
  if (mapped != cudaSuccess) return mapped;
  return launch(kByRowTiles[(rows - 1) / 8], work,
                {static_cast<unsigned>(plan.blocks(rows)), plan.threads(rows), plan.cluster(rows),
                 work.layout.bytes, way.programmatic},
                way);
}

}  // namespace tare::kernels::cuda
