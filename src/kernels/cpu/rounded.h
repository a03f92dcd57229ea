// The grouped kernel for activations rounded to 8 bits: what ggml's quantised products are, and its
// like. x becomes int8 in blocks of 32 along k, each with a step of its own (its largest magnitude
// is 127 steps); codes are unsigned bytes, four of k in a 32-bit lane, and integers are multiplied
// and summed exactly over a group, in any order. Included only by the files that instantiate it
// with an Isa of internal linkage (see panel.h), which are compiled without contraction.
//
// An Isa says: kLanes, kMostRows, columns(rows); Vector of f32: load, store, spread, times(a, b),
// fused(sum, a, b), f16(words), bytes<Biased>(pointer) as f32, signed where there are no biases;
// Sums of int32: start(int), as_float(sums), codes<bits>(bytes, column) of one vector of outputs,
// dot(sums, codes, four of x).
//
// One output is  sum over groups, ascending:  fma(scale, step * (sum of code * x), total), then
// where there are biases fma(bias, step * (sum of x), total). A code's zero point is taken off in
// integers. Nothing in it depends on rows, tiles, threads or the instruction set.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/grouped_task.h"
#include "kernels/cpu/store_grouped.h"
#include "kernels/cpu/tile.h"

namespace tare::kernels {
namespace {

constexpr std::uint64_t kRoundedGroup = 32;  // of k
constexpr std::uint64_t kRoundedGroups = 8;  // of a block
constexpr std::uint64_t kRoundedQuads = 64;  // of a block
// How many bytes ahead of the codes at work memory is asked for: codes of 8 bits are used up sooner
// (docs/kernels/grouped.md).
constexpr std::uint64_t rounded_ahead(unsigned bits) {
  return bits == 8 ? 6144 : 8192;
}
constexpr std::uint64_t kRoundedBlock = kRoundedGroup * kRoundedGroups;

using Quad = std::uint32_t;  // four int8

// One row of a block of x.
struct RoundedRow {
  Quad x[kRoundedQuads];
  float step[kRoundedGroups];
  float sum[kRoundedGroups];  // step * sum of x, for biases
  // - zero point * sum of x of each of the format's groups, of 16 or of 32: what their sums start
  // from
  std::int32_t start[2 * kRoundedGroups];
};

inline std::uint32_t f32_bits(Bf16 value) {
  return static_cast<std::uint32_t>(value) << 16;
}
inline std::uint32_t f32_bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

// Rounds 32 values to int8, to nearest even. A NaN or an infinity makes the step NaN, and with it
// the row's outputs; values below 2^-118 count as zero. Of f32 and of the bf16 that it rounds to
// exactly, the same.
template <typename Element>
inline float round_group(const Element* x, std::int8_t (&rounded)[kRoundedGroup]) {
  constexpr std::uint32_t kMagnitude = 0x7FFFFFFF, kInfinity = 0x7F800000, kLeast = 9 << 23;
  std::uint32_t most = 0;
  for (std::uint64_t i = 0; i < kRoundedGroup; ++i) {
    const std::uint32_t magnitude = f32_bits(x[i]) & kMagnitude;
    most = magnitude > most ? magnitude : most;
  }
  const bool counts = most >= kLeast && most < kInfinity;
  const float largest = std::bit_cast<float>(most);
  const float inverse = counts ? 127 / largest : 0;
  for (std::uint64_t i = 0; i < kRoundedGroup; ++i) {
    constexpr float kShift = 0x1.8p23F;  // the sum's low bits are the integer
    const std::uint32_t bits = f32_bits(x[i]);
    const bool finite = (bits & kMagnitude) < kInfinity;
    const float shifted = std::bit_cast<float>(finite ? bits : 0) * inverse + kShift;
    rounded[i] = static_cast<std::int8_t>(std::bit_cast<std::uint32_t>(shifted));
  }
  if (counts) return largest / 127;
  return std::bit_cast<float>(most < kInfinity ? 0u : kDefaultNan);
}

// Group `g` of 32 of a block. `Group`: the format's.
template <std::uint64_t Group, typename Element>
inline void put_group(const Element* x, std::int32_t zero_point, std::uint64_t g, RoundedRow& row) {
  std::int8_t rounded[kRoundedGroup];
  row.step[g] = round_group(x, rounded);
  std::memcpy(&row.x[g * kRoundedGroup / 4], rounded, sizeof rounded);
  std::int32_t all = 0;
  for (std::uint64_t part = 0; part < kRoundedGroup / Group; ++part) {
    std::int32_t sum = 0;
    for (std::uint64_t i = 0; i < Group; ++i) sum += rounded[part * Group + i];
    row.start[g * kRoundedGroup / Group + part] = -zero_point * sum;
    all += sum;
  }
  row.sum[g] = row.step[g] * static_cast<float>(all);
}

// [block][row]
template <std::uint64_t Group, typename Element>
inline void round_x(const GroupedTask& task, const Element* x, RoundedRow* into) {
  const std::uint64_t k = task.shape.k;
  for (std::uint64_t first = 0; first < k; first += kRoundedBlock) {
    const std::uint64_t left = (k - first) / kRoundedGroup;
    for (std::uint64_t row = 0; row < task.rows; ++row, ++into)
      for (std::uint64_t g = 0; g < kRoundedGroups && g < left; ++g)
        put_group<Group>(x + row * k + first + g * kRoundedGroup, task.shape.zero_point, g, *into);
  }
}

inline std::uint64_t rounded_scratch_bytes(const GroupedShape& shape, std::uint64_t rows) {
  const std::uint64_t blocks = (shape.k + kRoundedBlock - 1) / kRoundedBlock;
  return rows * kGroupedOutputs * sizeof(float) + blocks * rows * sizeof(RoundedRow);
}

template <unsigned Bits, ScaleType Scales, bool Biased, std::uint64_t Group>
struct RoundedFormat {
  static constexpr unsigned kBits = Bits;
  static constexpr std::uint64_t kAhead = rounded_ahead(Bits);
  static constexpr bool kTwoLevel = Scales == ScaleType::kTwoLevel;
  static constexpr bool kBiased = Biased;
  static constexpr std::uint64_t kGroup = Group;
  static constexpr std::uint64_t kPlaneBytes = kGroupedOutputs * (kTwoLevel ? 1 : 2);
  static constexpr std::uint64_t kPlanes = kPlaneBytes * (Biased ? 2 : 1);
  static constexpr std::uint64_t kQuadBytes = kGroupedOutputs * 4 * Bits / 8;
  static constexpr std::uint64_t kGroupBytes = kPlanes + Group / 4 * kQuadBytes;
  static constexpr std::uint64_t kHeader = kTwoLevel ? kGroupedOutputs * 2 * (Biased ? 2 : 1) : 0;
};

// Scale and bias of one vector of outputs: `planes` are the group's, `header` the block's.
template <typename Isa, typename Format>
[[gnu::always_inline]] inline void scales_of(const std::byte* header, const std::byte* planes,
                                             std::uint64_t output, typename Isa::Vector& scale,
                                             typename Isa::Vector& bias) {
  if constexpr (Format::kTwoLevel) {
    constexpr bool kBiased = Format::kBiased;
    scale =
        Isa::times(Isa::f16(header + 2 * output), Isa::template bytes<kBiased>(planes + output));
    bias = scale;
    if constexpr (kBiased) {
      bias = Isa::times(Isa::f16(header + 2 * (kGroupedOutputs + output)),
                        Isa::template bytes<kBiased>(planes + kGroupedOutputs + output));
    }
  } else {
    scale = Isa::f16(planes + 2 * output);
    bias = scale;
  }
}

// One group of Rows x Columns vectors, from output `first` of the panel on.
template <typename Isa, typename Format, std::size_t Rows, std::size_t Columns>
[[gnu::always_inline]] inline void run_rounded_tile(float* totals, const std::byte* header,
                                                    const std::byte* group, std::uint64_t first,
                                                    const RoundedRow* x, std::uint64_t g) {
  typename Isa::Sums sum[Rows][Columns];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c) sum[r][c] = Isa::start(x[r].start[g]);
  }
  for (std::uint64_t line = 0; line < Format::kPlanes; line += kLineBytes)
    __builtin_prefetch(group + Format::kAhead + line);
  const std::byte* codes = group + Format::kPlanes;
  const Quad* four = x->x + g * Format::kGroup / 4;
  constexpr std::uint64_t kRow = sizeof(RoundedRow) / sizeof(Quad);
  static_assert(sizeof(RoundedRow) % sizeof(Quad) == 0, "rows are whole words apart");
  const std::uint64_t step = g * Format::kGroup / kRoundedGroup;
// Not unrolled: GCC 12 does so in full, and loads then run ahead of what was asked for: q8_0 read
// at 0.83 of the stream, and reads at 0.95 (docs/kernels/grouped.md).
#pragma GCC unroll 1
  for (std::uint64_t quad = 0; quad < Format::kGroup / 4; ++quad) {
#pragma GCC unroll 4
    for (std::uint64_t line = 0; line < Format::kQuadBytes; line += kLineBytes)
      __builtin_prefetch(codes + Format::kAhead + line);
    typename Isa::Codes w[Columns];
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c)
      w[c] = Isa::template codes<Format::kBits>(codes, first / Isa::kLanes + c);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
      for (std::size_t c = 0; c < Columns; ++c)
        sum[r][c] = Isa::dot(sum[r][c], w[c], four[r * kRow]);
    }
    codes += Format::kQuadBytes;
    ++four;
  }
  asm volatile("" ::: "memory");  // totals are read here and not before: grouped_tile.h
#pragma GCC unroll 8
  for (std::size_t c = 0; c < Columns; ++c) {
    typename Isa::Vector scale, bias;
    scales_of<Isa, Format>(header, group, first + c * Isa::kLanes, scale, bias);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
      float* at = totals + r * kGroupedOutputs + first + c * Isa::kLanes;
      const auto product = Isa::times(Isa::as_float(sum[r][c]), Isa::spread(x[r].step[step]));
      auto total = Isa::fused(Isa::load(at), scale, product);
      if constexpr (Format::kBiased) total = Isa::fused(total, bias, Isa::spread(-x[r].sum[step]));
      Isa::store(at, total);
    }
  }
}

// The groups of a block.
template <typename Isa, typename Format, std::size_t Rows, std::size_t Columns>
void run_rounded_groups(float* totals, const std::byte* block, const RoundedRow* x,
                        std::uint64_t groups) {
  for (std::uint64_t first = 0; first < kGroupedOutputs; first += Columns * Isa::kLanes) {
    for (std::uint64_t g = 0; g < groups; ++g) {
      run_rounded_tile<Isa, Format, Rows, Columns>(
          totals, block, block + Format::kHeader + g * Format::kGroupBytes, first, x, g);
    }
  }
}

template <typename Isa, typename Format>
class RoundedTiles {
 public:
  using Run = decltype(&run_rounded_groups<Isa, Format, 1, Isa::columns(1)>);
  static Run of(std::uint64_t rows) {
    static constexpr Table kTable = make(std::make_index_sequence<Isa::kMostRows>{});
    return kTable.run[rows - 1];
  }

 private:
  struct Table {
    Run run[Isa::kMostRows];
  };
  template <std::size_t... Index>
  static constexpr Table make(std::index_sequence<Index...>) {
    return {{&run_rounded_groups<Isa, Format, Index + 1, Isa::columns(Index + 1)>...}};
  }
};

template <typename Isa, typename Format>
void run_rounded_block(std::uint64_t rows, float* totals, const std::byte* block,
                       const RoundedRow* x, std::uint64_t groups) {
  for (std::uint64_t at = 0; at < Format::kHeader; at += kLineBytes)
    __builtin_prefetch(block + Format::kAhead + at);
  const std::uint64_t tiles = (rows + Isa::kMostRows - 1) / Isa::kMostRows;
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    const std::uint64_t height = rows / tiles + (tile < rows % tiles ? 1 : 0);
    RoundedTiles<Isa, Format>::of(height)(totals, block, x, groups);
    totals += height * kGroupedOutputs;
    x += height;
  }
}

template <typename Isa, typename Format>
void run_rounded_format(const GroupedTask& task) {
  const GroupedShape& shape = task.shape;
  auto* totals = static_cast<float*>(task.scratch);
  auto* rounded = reinterpret_cast<RoundedRow*>(totals + task.rows * kGroupedOutputs);
  if (task.wide_x != nullptr)
    round_x<Format::kGroup>(task, task.wide_x, rounded);
  else
    round_x<Format::kGroup>(task, task.x, rounded);
  for (std::uint64_t panel = task.first_panel; panel < task.last_panel; ++panel) {
    const std::byte* block = task.weights + panel * shape.panel_bytes();
    const RoundedRow* x = rounded;
    std::memset(totals, 0, task.rows * kGroupedOutputs * sizeof(float));
    for (std::uint64_t first = 0; first < shape.k; first += kRoundedBlock) {
      constexpr std::uint64_t kGroups = kRoundedBlock / Format::kGroup;
      const std::uint64_t left = (shape.k - first) / Format::kGroup;
      const std::uint64_t groups = left < kGroups ? left : kGroups;
      run_rounded_block<Isa, Format>(task.rows, totals, block, x, groups);
      block += Format::kHeader + groups * Format::kGroupBytes;
      x += task.rows;
    }
    store_grouped(task, panel, totals);
  }
}

template <typename Isa, typename Control>
void run_rounded(const GroupedTask& task) {
  [[maybe_unused]] const Control control;
  using enum ScaleType;
  switch (task.shape.bits) {
    case 8:
      return run_rounded_format<Isa, RoundedFormat<8, kF16, false, 32>>(task);
    case 6:
      return run_rounded_format<Isa, RoundedFormat<6, kTwoLevel, false, 16>>(task);
    case 5:
      return run_rounded_format<Isa, RoundedFormat<5, kF16, false, 32>>(task);
    default:
      if (task.shape.scales == kTwoLevel)
        return run_rounded_format<Isa, RoundedFormat<4, kTwoLevel, true, 32>>(task);
      return run_rounded_format<Isa, RoundedFormat<4, kF16, false, 32>>(task);
  }
}

}  // namespace
}  // namespace tare::kernels
