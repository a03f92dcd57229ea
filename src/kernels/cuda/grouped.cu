#include <array>

#include "formats/weight_format.h"
#include "kernels/cuda/grouped.h"
#include "kernels/cuda/input_map.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/pack.cuh"
#include "kernels/cuda/queue.cuh"

namespace tare::kernels::cuda {
namespace {

constexpr std::uint32_t kOnes = 0x3f803f80U;  // two of bf16
constexpr std::uint32_t k128 = 0x43004300U;   // likewise
constexpr int kProducts = 4;                  // of 16 k, in a unit

// bf16 pairs of mma's first operand, 16 outputs x 64 k.
using Operand = std::uint32_t[kProducts][4];

// (bits & kMask) | k128 in one instruction: of two steps with a constant each, the compiler makes
// two.
template <std::uint32_t kMask>
__device__ __forceinline__ std::uint32_t masked_128(std::uint32_t bits) {
  std::uint32_t value;
  asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(value) : "r"(bits), "n"(kMask), "r"(k128));
  return value;
}

// 128 + code in the 7 bits that bf16 has behind the point at 128.
__device__ __forceinline__ void decode4(const uint4& codes, Operand& into) {
  const std::uint32_t words[4] = {codes.x, codes.y, codes.z, codes.w};
#pragma unroll
  for (int product = 0; product < kProducts; ++product)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      into[product][i] = masked_128<0x000f000fU>(words[product] >> (4 * i));
}

// Two's complement in the low bytes of the halves: 128 + the low 7 bits, less 128, or 256 where the
// sign is set. Exact.
__device__ __forceinline__ std::uint32_t decode8(std::uint32_t bytes) {
  const std::uint32_t low = masked_128<0x007f007fU>(bytes);
  const std::uint32_t less = masked_128<0x00800080U>(bytes);
  const __nv_bfloat162 value = __hsub2(reinterpret_cast<const __nv_bfloat162&>(low),
                                       reinterpret_cast<const __nv_bfloat162&>(less));
  return reinterpret_cast<const std::uint32_t&>(value);
}

// A lane's codes of one half (16 outputs) of a unit.
template <GroupedFormat kFormat>
__device__ __forceinline__ void load_operand(const unsigned char* codes, Operand& into) {
  const uint4 first = *reinterpret_cast<const uint4*>(codes);
  if constexpr (kFormat.bits == 4) {
    decode4(first, into);
  } else {
    const uint4 second = *reinterpret_cast<const uint4*>(codes + 512);
    const std::uint32_t words[8] = {first.x,  first.y,  first.z,  first.w,
                                    second.x, second.y, second.z, second.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      into[i / 2][i % 2 * 2] = decode8(words[i]);
      into[i / 2][i % 2 * 2 + 1] = decode8(words[i] >> 8);
    }
  }
}

// Scales of a lane's four outputs, lane / 4 + 0, 8, 16, 24 of the strip, and what the sum of x is
// multiplied by: bias + scale * offset. That rounding is one of 2^-24 of 136 scales.
struct Scales {
  float scale[4], bias[4];
};

__device__ __forceinline__ float low_half(std::uint32_t pair) {
  return __uint_as_float(pair << 16);
}
__device__ __forceinline__ float high_half(std::uint32_t pair) {
  return __uint_as_float(pair & 0xffff0000U);
}

template <GroupedFormat kFormat>
__device__ __forceinline__ Scales load_scales(const unsigned char* group) {
  const unsigned char* mine = group + threadIdx.x % 32 / 4 * 4 * kFormat.scale_bytes;
  Scales scales;
  if constexpr (kFormat.biased) {
    const uint4 all = *reinterpret_cast<const uint4*>(mine);
    scales = {{low_half(all.x), low_half(all.y), low_half(all.z), low_half(all.w)},
              {high_half(all.x), high_half(all.y), high_half(all.z), high_half(all.w)}};
  } else {
    const uint2 all = *reinterpret_cast<const uint2*>(mine);
    scales = {{low_half(all.x), high_half(all.x), low_half(all.y), high_half(all.y)}, {}};
  }
  for (int i = 0; i < 4; ++i)
    scales.bias[i] = fmaf(static_cast<float>(kFormat.offset), scales.scale[i], scales.bias[i]);
  return scales;
}

// Eight rows of x, 64 k: mma's second operand, two registers a product.
struct Inputs {
  std::uint32_t pairs[kProducts][2];
};
// Rows lie 128 bytes apart, the 16-byte units of each permuted by (row % 8). A lane takes units
// that are two apart, so that two rows touch all banks once. Rows after the last stand for it:
// nobody reads their sums.
__device__ __forceinline__ Inputs load_inputs(const unsigned char* box, std::uint32_t last_row) {
  const std::uint32_t lane = threadIdx.x % 32, row = min(lane / 4, last_row), unit = lane % 4 * 2;
  const unsigned char* at = box + row * 128;
  const uint4 first = *reinterpret_cast<const uint4*>(at + (unit ^ row) * 16);
  const uint4 second = *reinterpret_cast<const uint4*>(at + ((unit + 1) ^ row) * 16);
  return {{{first.x, first.y}, {first.z, first.w}, {second.x, second.y}, {second.z, second.w}}};
}

template <GroupedFormat kFormat>
constexpr bool kNeedsTotal = kFormat.biased || kFormat.offset != 0;

// sums += scale (w . x) + bias sum(x), of 16 outputs and 8 rows.
template <GroupedFormat kFormat>
__device__ __forceinline__ void multiply_half(const Operand& w, const Inputs& x,
                                              const float (&total)[4], const float* scale,
                                              const float* bias, float (&sums)[4]) {
  float group[4] = {};
#pragma unroll
  for (int product = 0; product < kProducts; ++product)
    multiply_add(group, w[product][0], w[product][1], w[product][2], w[product][3],
                 x.pairs[product][0], x.pairs[product][1]);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    sums[i] = fmaf(scale[i / 2], group[i], sums[i]);
    if constexpr (kNeedsTotal<kFormat>) sums[i] = fmaf(bias[i / 2], total[i], sums[i]);
  }
}

// A strip's 32 outputs and a unit's 64 k, all rows.
template <GroupedFormat kFormat, int kRowTiles>
__device__ __forceinline__ void multiply_unit(const unsigned char* codes,
                                              const unsigned char* group, const unsigned char* box,
                                              std::uint32_t last_row,
                                              float (&sums)[2][kRowTiles][4]) {
  constexpr std::uint32_t kHalfBytes = kGroupedOutputs / 2 * kUnitDepth * kFormat.bits / 8;
  Operand w[2];
  load_operand<kFormat>(codes, w[0]);
  load_operand<kFormat>(codes + kHalfBytes, w[1]);
  const Scales scales = load_scales<kFormat>(group);
#pragma unroll
  for (int tile = 0; tile < kRowTiles; ++tile) {
    const Inputs x = load_inputs(box + tile * 1024, last_row);
    float total[4] = {};  // of x over the unit, in every output's place
    if constexpr (kNeedsTotal<kFormat>) {
#pragma unroll
      for (int product = 0; product < kProducts; ++product)
        multiply_add(total, kOnes, kOnes, kOnes, kOnes, x.pairs[product][0], x.pairs[product][1]);
    }
    multiply_half<kFormat>(w[0], x, total, scales.scale, scales.bias, sums[0][tile]);
    multiply_half<kFormat>(w[1], x, total, scales.scale + 2, scales.bias + 2, sums[1][tile]);
  }
}

// Of a warp: its strip, its part of k as far as a thread block has several, its piece of that.
struct Share {
  std::uint32_t strip, fold, piece;
};

// Holds x, laid out as boxes of it are, but without rows between the last and the eighth. Each warp
// brings what it needs, as far as no other strip's does.
template <int kUnits>
__device__ void hold_inputs(const QueueWork& at, const Share& mine, unsigned char* held,
                            std::uint64_t* held_barrier) {
  const std::uint32_t units = at.stages * kUnits, eighth = threadIdx.x % 8;
  wait_for_predecessors();
  // Four rows at a time, unit after unit.
  std::uint32_t index = 0, row = 4 * mine.strip + threadIdx.x % 32 / 8;
  while (true) {
    for (; row >= at.rows; row -= at.rows) ++index;
    if (index >= units) break;
    const std::uint32_t unit = (mine.fold * at.stages + index / kUnits) * kStageUnits +
                               mine.piece * kUnits + index % kUnits;
    const std::uint64_t k = std::uint64_t{unit} * kUnitDepth + eighth * 8;
    copy_async(held + (unit * at.rows + row) * 128 + (eighth ^ row) * 16,
               k < at.k ? at.x + row * at.k + k : at.x, k < at.k);
    row += 4 * at.strips;
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
    const unsigned char* here = queue.stage(turn.place);
    const unsigned char* inputs =
        kHeld ? queue.shared + at.layout.held +
                    (mine.fold * at.stages + stage) * kStageUnits * box_pitch
              : here + at.layout.inputs;
#pragma unroll(kRowTiles == 1 && !kHeld ? kUnits : 1)
    for (int i = 0; i < kUnits; ++i) {
      const std::uint32_t unit = first_unit + i;
      multiply_unit<kFormat, kRowTiles>(
          here + codes + unit * kUnitBytes + lane * 16,
          here + codes + kFormat.code_bytes + unit / kFormat.group_units * kGroupBytes,
          inputs + unit * box_pitch, last_row, sums);
    }
    // Every lane for itself: racecheck does not see one speak for the others after __syncwarp.
    arrive(queue.empty(turn.place));
    turn.next(at.layout.stages);
  }
}

// Of a thread: two thread blocks of nine warps a multiprocessor, and of five three. With 56 or 72
// of them one row was no faster, although more thread blocks fit: they spill (cuda-grouped.md).
constexpr int kRegisters[4] = {80, 96, 128, 128};

// nvcc 13.0 takes no format itself as a kernel's parameter.
template <std::uint32_t kType>
constexpr GroupedFormat kFormatOf = kInt8;
template <>
constexpr GroupedFormat kFormatOf<TARE_MLX_INT4_G64> = kMlxInt4;
template <>
constexpr GroupedFormat kFormatOf<TARE_INT4_G128> = kInt4;
template <>
constexpr GroupedFormat kFormatOf<TARE_MLX_INT8_G64> = kMlxInt8;

template <std::uint32_t kType, int kRowTiles, bool kHeld>
__global__ void __maxnreg__(kRegisters[kRowTiles - 1])
    grouped_kernel(const __grid_constant__ QueueWork at) {
  constexpr GroupedFormat kFormat = kFormatOf<kType>;
  extern __shared__ __align__(1024) unsigned char shared[];
  const Queue queue{shared, at.layout};
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

template <std::uint32_t kType>
constexpr std::array<Kernel, 5> kKernels{
    grouped_kernel<kType, 1, true>, grouped_kernel<kType, 1, false>,
    grouped_kernel<kType, 2, false>, grouped_kernel<kType, 3, false>,
    grouped_kernel<kType, 4, false>};

// First the one that holds x, then by tiles of eight rows.
const std::array<Kernel, 5>& kernels_of(std::uint32_t type) {
  switch (type) {
    case TARE_MLX_INT4_G64:
      return kKernels<TARE_MLX_INT4_G64>;
    case TARE_INT4_G128:
      return kKernels<TARE_INT4_G128>;
    case TARE_MLX_INT8_G64:
      return kKernels<TARE_MLX_INT8_G64>;
    default:  // one scale an output, or groups of 128: the same once packed
      return kKernels<TARE_INT8_G128>;
  }
}

// Where W[n, k] lies as handed over, and what packing needs of a plan.
struct Source {
  const unsigned char* codes;
  const std::uint16_t *scales, *biases;
  std::uint64_t k, n, groups;  // groups: of an output; one scale an output: 1
  std::uint64_t stages, units;
  QueueOrder order;
  GroupedFormat format;
};

__device__ std::uint32_t code_of(const Source& from, std::uint64_t output, std::uint64_t k) {
  if (output >= from.n || k >= from.k) return 0;
  if (from.format.bits == 8)
    return from.codes[output * from.k + k] ^ (from.format.from_zero ? 0x80U : 0U);
  return from.codes[(output * from.k + k) / 2] >> (k % 2 * 4) & 0xfU;
}

// Of a strip's stage: what it begins with, and the 16-byte unit in it.
struct Place {
  std::uint64_t output, k, unit;
};

__device__ uint4 codes_at(const Source& from, const Place& at) {
  const std::uint32_t lane = at.unit % 32, planes = from.format.bits / 4;
  const std::uint32_t plane = at.unit / 32 % planes, half = at.unit / (32 * planes) % 2;
  const std::uint64_t k = at.k + at.unit / (64 * planes) * kUnitDepth + lane % 4 * 16;
  const std::uint64_t output = at.output + half * 16 + lane / 4;
  // Element e of register i of a product.
  const auto code = [&](std::uint32_t product, std::uint32_t i, std::uint32_t e) {
    return code_of(from, output + i % 2 * 8, k + product * 4 + i / 2 * 2 + e);
  };
  std::uint32_t words[4] = {};
  for (std::uint32_t w = 0; w < 4; ++w)
    for (std::uint32_t i = 0; i < (from.format.bits == 4 ? 4 : 2); ++i)
      for (std::uint32_t e = 0; e < 2; ++e)
        words[w] |= from.format.bits == 4
                        ? code(w, i, e) << (4 * i + 16 * e)
                        : code(2 * plane + w / 2, w % 2 * 2 + i, e) << (8 * i + 16 * e);
  return {words[0], words[1], words[2], words[3]};
}

__device__ uint4 scales_at(const Source& from, const Place& at) {
  const std::uint32_t bytes = from.format.scale_bytes, each = 16 / bytes;  // outputs of a unit
  std::uint32_t words[4] = {};
  for (std::uint32_t i = 0; i < each; ++i) {
    const std::uint64_t index = at.unit * each + i, group_in_stage = index / kGroupedOutputs;
    const std::uint64_t output = at.output + index % 4 * 8 + index / 4 % 8;
    const std::uint64_t group =
        from.groups == 1 ? 0 : at.k / (kUnitDepth * from.format.group_units) + group_in_stage;
    if (output >= from.n || group >= from.groups) continue;
    const std::uint32_t scale = from.scales[output * from.groups + group];
    if (from.format.biased)
      words[i] = scale | std::uint32_t{from.biases[output * from.groups + group]} << 16;
    else
      words[i / 2] |= scale << (i % 2 * 16);
  }
  return {words[0], words[1], words[2], words[3]};
}

__global__ void pack(const Source from, uint4* packed) {
  const std::uint64_t index = packed_unit();
  if (index >= from.units) return;
  const std::uint64_t strip_units = from.format.strip_bytes / 16;
  const std::uint64_t code_units = from.format.code_bytes / 16;
  const std::uint64_t unit = index % strip_units;
  const QueueOrder::Strip at = from.order.strip_at(index / strip_units);
  const std::uint64_t output = at.strip * kGroupedOutputs;
  const std::uint64_t k = (at.part * from.stages + at.stage) * kGroupedDepth;
  packed[index] = unit < code_units ? codes_at(from, {output, k, unit})
                                    : scales_at(from, {output, k, unit - code_units});
}

}  // namespace

cudaError_t grouped_prepare(const GroupedPlan& plan) {
  return allow_most_shared_memory(kernels_of(plan.type));
}

cudaError_t grouped_pack(const GroupedPlan& plan, const void* weights, void* packed,
                         cudaStream_t stream) {
  const formats::Layout layout = formats::layout_of(formats::format_of(plan.type), plan.k, plan.n);
  const auto* bytes = static_cast<const unsigned char*>(weights);
  const Source from{bytes,
                    reinterpret_cast<const std::uint16_t*>(bytes + layout.scales),
                    reinterpret_cast<const std::uint16_t*>(bytes + layout.biases),
                    plan.k,
                    plan.n,
                    layout.groups,
                    plan.stages(),
                    plan.weight_bytes() / 16,
                    plan.order(),
                    *grouped_format(plan.type)};
  return launch_packing(pack, from.units, stream, from, static_cast<uint4*>(packed));
}

cudaError_t grouped_run(const GroupedPlan& plan, std::uint32_t rows, const void* packed,
                        const void* x, void* y, bool programmatic, cudaStream_t stream) {
  const GroupedLaunch how = plan.launch(rows);
  QueueWork work{.inputs = {},
                 .x = static_cast<const __nv_bfloat16*>(x),
                 .weights = static_cast<const unsigned char*>(packed),
                 .y = static_cast<__nv_bfloat16*>(y),
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
                 .depth = how.held ? 0 : kGroupedDepth,
                 .consumers = how.consumers,
                 .layout = grouped_layout(plan, rows)};
  if (!how.held) {
    const cudaError_t mapped = map_inputs(x, plan.k, rows, work.inputs);
    if (mapped != cudaSuccess) return mapped;
  }
  const Kernel kernel = kernels_of(plan.type)[how.held ? 0 : 1 + (rows - 1) / 8];
  return launch(kernel, work,
                {static_cast<unsigned>(how.blocks), 32 * (how.consumers + 1), how.splits,
                 work.layout.bytes, programmatic},
                stream);
}

}  // namespace tare::kernels::cuda
