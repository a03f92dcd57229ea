#include <array>

#include "kernels/cuda/grouped.h"
#include "kernels/cuda/grouped_early.h"
#include "kernels/cuda/grouped_math.cuh"
#include "kernels/cuda/input_map.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/queue.cuh"

namespace tare::kernels::cuda {
namespace {

// Of a warp: its strip, its part of k as far as a thread block has several, its piece of that.
struct Share {
  std::uint32_t strip, fold, piece;
};

// Holds x, laid out as boxes of it are, but without rows between the last and the eighth. Each warp
// brings what it needs, as far as no other strip's does.
template <int kUnits>
__device__ void hold_inputs(const QueueWork& at, const Share& mine, unsigned char* held,
                            std::uint32_t held_barrier) {
  const std::uint32_t units = at.stages * kUnits, eighth = threadIdx.x % 8;
  const std::uint32_t first_stage = mine.fold * at.stages;
  // p / rows = p * reciprocal >> 20 while p < 4096 and rows <= 8: everything here is in the way.
  const std::uint32_t reciprocal = ((1U << 20U) + at.rows - 1) / at.rows;
  wait_for_predecessors();
  // Four rows at a time, unit after unit.
#pragma unroll 4
  for (std::uint32_t p = 4 * mine.strip + threadIdx.x % 32 / 8; p < units * at.rows;
       p += 4 * at.strips) {
    const std::uint32_t index = p * reciprocal >> 20U, row = p - index * at.rows;
    const std::uint32_t unit =
        (first_stage + index / kUnits) * kStageUnits + mine.piece * kUnits + index % kUnits;
    const std::uint64_t k = std::uint64_t{unit} * kUnitDepth + eighth * 8;
    copy_async(held + (unit * at.rows + row) * 128 + (eighth ^ row) * 16,
               k < at.k ? at.x + row * at.k + k : at.x, k < at.k);
  }
  wait_for_copies();
  if (at.strips == 1) {
    __syncwarp();
    return;
  }
  // Not bar.sync: lanes leave the loop at different turns, and it wants them together.
  arrive(held_barrier);
  wait_for_barrier(held_barrier, 0);
}

// A warp's share of all stages: kUnits of each.
template <GroupedFormat kFormat, int kRowTiles, int kUnits, bool kHeld>
__device__ __forceinline__ void consume(const QueueWork& at, const Queue& queue, const Share& mine,
                                        float (&sums)[2][kRowTiles][4]) {
  constexpr std::uint32_t kUnitBytes = kGroupedOutputs * kUnitDepth * kFormat.bits / 8;
  constexpr std::uint32_t kGroupBytes = kGroupedOutputs * kFormat.scale_bytes;
  const std::uint32_t lane = threadIdx.x % 32, first_unit = mine.piece * kUnits;
  const std::uint32_t codes = mine.fold * at.part_bytes() + mine.strip * kFormat.strip_bytes;
  const std::uint32_t box_pitch = kHeld ? at.rows * 128 : at.layout.box_pitch;
  const std::uint32_t last_row = kHeld ? at.rows - 1 : 7;
  if constexpr (kHeld) hold_inputs<kUnits>(at, mine, queue.shared + at.layout.held, queue.held());
  Turn turn;
  for (std::uint32_t stage = 0; stage < at.stages; ++stage) {
    wait_for_barrier(queue.full(turn.place), turn.parity);
    const unsigned char* here = queue.shared + queue.stage(turn.place);
    const unsigned char* inputs =
        kHeld ? queue.shared + at.layout.held +
                    (mine.fold * at.stages + stage) * kStageUnits * box_pitch
              : here + at.layout.inputs;
#pragma unroll(kRowTiles == 1 ? kUnits : 1)
    for (int i = 0; i < kUnits; ++i) {
      const std::uint32_t unit = first_unit + i;
      multiply_unit<kFormat, kRowTiles>(
          load_codes<kFormat>(here + codes + unit * kUnitBytes + lane * 16),
          load_scales<kFormat>(here + codes + kFormat.code_bytes +
                               unit / kFormat.group_units * kGroupBytes),
          inputs + unit * box_pitch, last_row, sums);
    }
    // Every lane for itself: racecheck does not see one speak for the others after __syncwarp.
    arrive(queue.empty(turn.place));
    turn.next(at.layout.stages);
  }
}

// Registers are a quarter each of a multiprocessor's: of 112 a quarter has room for four warps, of
// 96 for five. So thread blocks of five warps are three a multiprocessor with either, and of nine
// warps two with 96, but one with 112 (4096x12288, one row: two rounds of them took 19 us, one
// takes 10). A single tile of rows takes the units of a stage together, so that one's products need
// not wait for the others'.
constexpr int most_registers(int row_tiles, bool few_warps) {
  return row_tiles > 2 ? 128 : few_warps ? 112 : 96;
}
constexpr std::uint32_t kFewWarps = 4;  // that multiply

template <std::uint32_t kType, int kRowTiles, bool kHeld, int kRegisters>
__global__ void __maxnreg__(kRegisters) grouped_kernel(const __grid_constant__ QueueWork at) {
  constexpr GroupedFormat kFormat = kFormatOf<kType>;
  extern __shared__ __align__(1024) unsigned char shared[];
  const Queue queue(shared, at.layout);
  const std::uint32_t warp = threadIdx.x / 32;
  const Share mine{warp % at.strips, warp / at.strips / at.pieces, warp / at.strips % at.pieces};
  begin_queue(at, queue, 32 * at.consumers);
  float sums[2][kRowTiles][4] = {};
  if (warp == at.consumers) {
    if (threadIdx.x % 32 == 0) feed(at, queue);
  } else if (at.pieces == 1) {
    consume<kFormat, kRowTiles, 4, kHeld>(at, queue, mine, sums);
  } else if (at.pieces == 2) {
    consume<kFormat, kRowTiles, 2, kHeld>(at, queue, mine, sums);
  } else {
    consume<kFormat, kRowTiles, 1, kHeld>(at, queue, mine, sums);
  }
  end_queue(at, queue, kGroupedOutputs * at.strips, 8 * kRowTiles,
            [&](float* partials, std::uint32_t pitch) {
              float* place = partials +
                             (mine.fold * at.pieces + mine.piece) * 8 * kRowTiles * pitch +
                             mine.strip * kGroupedOutputs;
              store_partials<kRowTiles>(sums[0], pitch, place);
              store_partials<kRowTiles>(sums[1], pitch, place + 16);
            });
}

using Kernel = void (*)(QueueWork);

using Kernels = std::array<Kernel, 5>;  // first the one that holds x, then by tiles of eight rows

template <std::uint32_t kType, bool kFew>
constexpr Kernels kKernels{grouped_kernel<kType, 1, true, most_registers(1, kFew)>,
                           grouped_kernel<kType, 1, false, most_registers(1, kFew)>,
                           grouped_kernel<kType, 2, false, most_registers(2, kFew)>,
                           grouped_kernel<kType, 3, false, most_registers(3, kFew)>,
                           grouped_kernel<kType, 4, false, most_registers(4, kFew)>};

const Kernels& kernels_of(std::uint32_t type, std::uint32_t consumers) {
  return with_packed_type(type, [&]<std::uint32_t kType>() -> const Kernels& {
    return consumers <= kFewWarps ? kKernels<kType, true> : kKernels<kType, false>;
  });
}

}  // namespace

cudaError_t grouped_prepare(const GroupedPlan& plan) {
  if (plan.early_rows > 0)
    if (const cudaError_t result = grouped_early_prepare(plan); result != cudaSuccess)
      return result;
  for (const std::uint32_t consumers : {kFewWarps, kFewWarps + 1})
    if (const cudaError_t result = allow_most_shared_memory(kernels_of(plan.type, consumers));
        result != cudaSuccess)
      return result;
  return cudaSuccess;
}

cudaError_t grouped_run(const GroupedPlan& plan, std::uint32_t rows, const void* packed,
                        const void* x, void* y, const Way& way, const void* bias) {
  const GroupedLaunch how = plan.launch(rows);
  if (how.way == GroupedWay::kEarly) return grouped_early_run(plan, rows, packed, x, y, way, bias);
  const bool held = how.way == GroupedWay::kHeld;
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
                 .strip_bytes = grouped_format(plan.type)->strip_bytes,
                 .pieces = plan.warps_k,
                 .splits = how.splits,
                 .folds = how.folds,
                 .stages = static_cast<std::uint32_t>(plan.stages()),
                 .depth = held ? 0 : kGroupedDepth,
                 .consumers = how.consumers,
                 .asked = asked_stages(plan.stages(), how.late),
                 .layout = grouped_layout(plan, rows)};
  if (!held) {
    const cudaError_t mapped = map_inputs(x, plan.k, rows, work.inputs);
    if (mapped != cudaSuccess) return mapped;
  }
  const Kernel kernel = kernels_of(plan.type, how.consumers)[held ? 0 : 1 + (rows - 1) / 8];
  return launch(kernel, work,
                {static_cast<unsigned>(how.blocks), 32 * (how.consumers + 1), how.splits,
                 work.layout.bytes, way.programmatic},
                way);
}

}  // namespace tare::kernels::cuda
