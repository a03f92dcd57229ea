// The register tile of the grouped kernel, once for every instruction set (see grouped.h for what
// an Isa and an Expand say).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/cpu/code_words.h"
#include "kernels/cpu/grouped_task.h"
#include "kernels/cpu/tile.h"

namespace tare::kernels {

// Pairs of k of a block: what a group can have at most, and what x is laid out by.
inline constexpr std::uint64_t kGroupedBlockPairs = 64;
template <typename Isa>
using GroupedIsa = Blocked<Isa, kGroupedBlockPairs>;

// Groups of a block at most: of 16 weights. x's sums of one row are so far apart from the next's.
inline constexpr std::uint64_t kMostGroups = 8;

// How many bytes ahead of the codes at work memory is asked for: more, the longer a block takes; of
// many rows, x and totals want the first-level cache, too (docs/kernels/grouped.md).
static inline constexpr std::uint64_t grouped_ahead(std::uint64_t rows) {
  return rows == 1 || rows > 6 ? 8192 : rows == 2 ? 12288 : 16384;
}

// What a group looks like: its planes of scales and biases, and the bits of a code; and the header
// that it shares with its neighbours where scales have two levels.
template <unsigned Bits, bool Biased, ScaleType Scales, bool Zeros = false>
struct GroupFormat {
  static constexpr unsigned kBits = Bits;
  static constexpr bool kBiased = Biased;
  static constexpr bool kZeros = Zeros;  // in the place of biases
  static constexpr ScaleType kScales = Scales;
  static constexpr bool kTwoLevel = Scales == ScaleType::kTwoLevel;
  static constexpr std::uint64_t kScaleBytes = kTwoLevel ? 1 : 2;  // of one output
  static constexpr std::uint64_t kPlanes = kGroupedOutputs * kScaleBytes * (Biased ? 2 : 1);
};

// Where a tile finds codes as bf16: decoded in registers, straight from memory, which it asks for
// ahead of itself; or expanded into the first-level cache before. A unit is a turn of its loop.
// `First`: the tile's first column of 16 outputs.
template <typename Isa, typename Expand, typename Format, std::size_t First>
struct Decoded {
  using Code = std::byte;
  static constexpr std::size_t kPairs = kUnitPairs<Format::kBits>;
  static constexpr std::uint64_t kUnit = kUnitBytes<Format::kBits>;
  static constexpr std::size_t kLeastRows = First == 0 ? 1 : Isa::kWideRows + 1;
  // Columns that are decoded together. Not four where arithmetic counts: lookups share a port with
  // multiply-adds, which then wait for all of them in a row (docs/kernels/grouped.md).
  template <std::size_t Rows, std::size_t Columns>
  static constexpr std::size_t kTogether = Rows < 3 ? Columns : 2;
  [[gnu::always_inline]] static void prefetch(const Code* unit, std::uint64_t ahead) {
#pragma GCC unroll 8
    for (std::uint64_t line = 0; line < kUnit; line += kLineBytes)
      __builtin_prefetch(unit + ahead + line);
  }
  // The columns from `Column` of the tile on.
  template <std::size_t Column, std::size_t Columns>
  [[gnu::always_inline]] static void load(const Code* unit, std::size_t pair,
                                          typename Isa::Pairs (&into)[Columns]) {
    Expand::template decode<Format::kBits, First + Column>(unit, pair, into);
  }
};
template <typename Isa>
struct Expanded {
  using Code = Bf16Pair;
  static constexpr std::size_t kPairs = 1;
  static constexpr std::uint64_t kUnit = kGroupedOutputs;
  static constexpr std::size_t kLeastRows = 1;
  template <std::size_t Rows, std::size_t Columns>
  static constexpr std::size_t kTogether = Columns;
  static void prefetch(const Code*, std::uint64_t) {}
  template <std::size_t Column, std::size_t Columns>
  [[gnu::always_inline]] static void load(const Code* from, std::size_t,
                                          typename Isa::Pairs (&into)[Columns]) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c)
      into[c] = Isa::pairs(from + (Column + c) * Isa::kLanes);
  }
};

// Where the scales of a group are: of its planes, and of its header where there is one. Both of a
// tile's first output.
struct GroupScales {
  const std::byte* planes;
  const std::byte* header;
};

// Scale and bias of the vector of outputs from `output` on. Codes of formats with biases have half
// their range taken off, which the bias makes good; of zeros it is scale * (half - zero).
template <typename Isa, typename Format>
[[gnu::always_inline]] inline void scales_at(const GroupScales& at, std::uint64_t output,
                                             typename Isa::Vector& scale,
                                             typename Isa::Vector& bias) {
  const std::byte* own = at.planes + output * Format::kScaleBytes;
  if constexpr (Format::kTwoLevel) {
    scale = Isa::product(Isa::template widened<ScaleType::kF16>(at.header + 2 * output),
                         Isa::template bytes<Format::kBiased>(own));
  } else {
    scale = Isa::template widened<Format::kScales>(own);
  }
  bias = scale;
  if constexpr (Format::kBiased) {
    const float shift = 1U << (Format::kBits - 1);
    const std::byte* others = own + kGroupedOutputs * Format::kScaleBytes;
    if constexpr (Format::kTwoLevel) {  // a magnitude below zero
      const std::byte* factors = at.header + 2 * (kGroupedOutputs + output);
      const auto least = Isa::product(Isa::template widened<ScaleType::kF16>(factors),
                                      Isa::template bytes<true>(others));
      bias = Isa::minus(Isa::product(scale, Isa::spread(&shift)), least);
    } else if constexpr (Format::kZeros) {  // exact: 11 bits and 4
      bias = Isa::product(
          scale, Isa::minus(Isa::spread(&shift), Isa::template widened<Format::kScales>(others)));
    } else {
      bias = Isa::fused(Isa::template widened<Format::kScales>(others), scale, Isa::spread(&shift));
    }
  }
}

// The totals of a tile, rows kGroupedOutputs apart: in memory, or from the first to the last group
// of a block in registers.
template <typename Isa>
struct TotalsInMemory {
  float* first;
  typename Isa::Vector get(std::size_t r, std::size_t c) const { return Isa::load(at(r, c)); }
  void set(std::size_t r, std::size_t c, typename Isa::Vector total) {
    Isa::store(at(r, c), total);
  }
  float* at(std::size_t r, std::size_t c) const {
    return first + r * kGroupedOutputs + c * Isa::kLanes;
  }
};
template <typename Isa, std::size_t Rows, std::size_t Columns>
struct TotalsInRegisters {
  typename Isa::Vector held[Rows][Columns];
  typename Isa::Vector get(std::size_t r, std::size_t c) const { return held[r][c]; }
  void set(std::size_t r, std::size_t c, typename Isa::Vector total) { held[r][c] = total; }
};

template <std::size_t Rows, std::size_t Columns, typename From, typename Into>
[[gnu::always_inline]] inline void copy_totals(const From& from, Into& into) {
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c) into.set(r, c, from.get(r, c));
  }
}

// The sums of a group to the totals: scale * sum, and bias * (sum of x), one rounding each.
template <typename Isa, typename Format, std::size_t Rows, std::size_t Columns, typename Totals>
[[gnu::always_inline]] inline void add_group(const typename Isa::Vector (&sum)[Rows][Columns],
                                             const GroupScales& at, const float* x_sums,
                                             Totals& totals) {
#pragma GCC unroll 8
  for (std::size_t c = 0; c < Columns; ++c) {
    typename Isa::Vector scale, bias;
    scales_at<Isa, Format>(at, c * Isa::kLanes, scale, bias);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
      auto total = Isa::fused(totals.get(r, c), sum[r][c], scale);
      if constexpr (Format::kBiased)
        total = Isa::fused(total, bias, Isa::spread(x_sums + r * kMostGroups));
      totals.set(r, c, total);
    }
  }
}

// The products of a pair, from column `Column` of the tile on.
template <typename Isa, typename Source, std::size_t Column, std::size_t Rows, std::size_t Columns>
[[gnu::always_inline]] inline void multiply_pair(typename Isa::Vector (&sum)[Rows][Columns],
                                                 const typename Source::Code* codes,
                                                 std::size_t pair,
                                                 const typename Isa::Activation* x) {
  constexpr std::size_t kTogether = Source::template kTogether<Rows, Columns>;
  typename Isa::Pairs w[kTogether];
  Source::template load<Column>(codes, pair, w);
#pragma GCC unroll 2
  for (std::size_t step = 0; step < Isa::kSteps; ++step) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto one = Isa::broadcast(x + r * kRowStride<Isa> + (Isa::kSteps - 1 - step));
#pragma GCC unroll 8
      for (std::size_t c = 0; c < kTogether; ++c) {
        auto& total = sum[r][Column + c];
        if constexpr (kTogether < Columns)
          total = Isa::multiply_add_here(total, Isa::part(w[c], step), one);
        else
          total = Isa::multiply_add(total, Isa::part(w[c], step), one);
      }
    }
  }
  if constexpr (Column + kTogether < Columns) {
    asm volatile("" : "+r"(codes));  // not decoded before
    multiply_pair<Isa, Source, Column + kTogether>(sum, codes, pair, x);
  }
}

// The products of a group: sums start from zero and take its pairs in ascending order.
template <typename Isa, typename Source, std::size_t Rows, std::size_t Columns>
[[gnu::always_inline]] inline void sum_group(typename Isa::Vector (&sum)[Rows][Columns],
                                             const typename Source::Code* codes,
                                             const typename Isa::Activation* x, std::uint64_t pairs,
                                             std::uint64_t ahead) {
  const float zero = 0;
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c) sum[r][c] = Isa::spread(&zero);
  }
  for (std::uint64_t first = 0; first < pairs; first += Source::kPairs) {
    Source::prefetch(codes, ahead);
#pragma GCC unroll 4
    for (std::size_t pair = 0; pair < Source::kPairs; ++pair) {
      multiply_pair<Isa, Source, 0>(sum, codes, pair, x);
      x += Isa::kSteps;
    }
    codes += Source::kUnit;
  }
}

// Whether sums, totals and a pair of weights fit into registers together.
template <typename Isa, std::size_t Rows, std::size_t Columns>
inline constexpr bool kHoldsTotals = (2 * Rows + 1) * Columns + 3 <= Isa::kRegisters;

// One register tile of Rows x Columns vectors over the groups of a block, ascending. From a group
// to the next it is `code_stride` codes and `group_bytes` of the packed block; `planes` are the
// first group's. Rows of totals are kGroupedOutputs apart, rows of x kRowStride. Memory is asked
// for `ahead` bytes ahead of the codes. Arguments in registers: tile.h says why.
template <typename Isa, typename Source, typename Format, std::size_t Rows, std::size_t Columns>
void run_groups(float* totals, const typename Source::Code* codes, std::uint64_t code_stride,
                const std::byte* planes, const std::byte* header, std::uint64_t group_bytes,
                const typename Isa::Activation* x, const float* x_sums, std::uint64_t groups,
                std::uint64_t pairs, std::uint64_t ahead) {
  TotalsInMemory<Isa> stored{totals};
  TotalsInRegisters<Isa, Rows, Columns> held;
  constexpr bool kHeld = kHoldsTotals<Isa, Rows, Columns>;
  if constexpr (kHeld) copy_totals<Rows, Columns>(stored, held);
  for (std::uint64_t g = 0; g < groups; ++g) {
    typename Isa::Vector sum[Rows][Columns];
    sum_group<Isa, Source, Rows, Columns>(sum, codes, x, pairs, ahead);
    if constexpr (kHeld) {
      add_group<Isa, Format, Rows, Columns>(sum, {planes, header}, x_sums + g, held);
    } else {
      // Totals are read here and not before: GCC 12 loads them ahead of the pairs, and spills them.
      asm volatile("" ::: "memory");
      add_group<Isa, Format, Rows, Columns>(sum, {planes, header}, x_sums + g, stored);
    }
    codes += code_stride;
    planes += group_bytes;
    x += pairs * Isa::kSteps;
  }
  if constexpr (kHeld) copy_totals<Rows, Columns>(held, stored);
}

// run_groups of a row count, from Source::kLeastRows on.
template <typename Isa, typename Source, typename Format>
class GroupTiles {
 public:
  using Run = decltype(&run_groups<Isa, Source, Format, 1, Isa::columns(1)>);
  static Run of(std::uint64_t rows) {
    static constexpr Table kTable = make(std::make_index_sequence<kCount>{});
    return kTable.run[rows - Source::kLeastRows];
  }

 private:
  static constexpr std::size_t kCount = Isa::kMostRows + 1 - Source::kLeastRows;
  struct Table {
    Run run[kCount];
  };
  template <std::size_t... Index>
  static constexpr Table make(std::index_sequence<Index...>) {
    return {{&run_groups<Isa, Source, Format, Index + Source::kLeastRows,
                         Isa::columns(Index + Source::kLeastRows)>...}};
  }
};

}  // namespace tare::kernels
