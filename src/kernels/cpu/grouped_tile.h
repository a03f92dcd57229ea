// The register tile of the grouped kernel, once for every instruction set (see grouped.h for what
// an Isa and an Expand say).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/cpu/grouped_task.h"
#include "kernels/cpu/panel_task.h"
#include "kernels/cpu/tile.h"

namespace tare::kernels {

// Pairs of k of a block: what a group can have at most, and what x is laid out by.
inline constexpr std::uint64_t kGroupedBlockPairs = 64;
template <typename Isa>
using GroupedIsa = Blocked<Isa, kGroupedBlockPairs>;

// Groups of a block at most: of 16 weights. x's sums of one row are so far apart from the next's.
inline constexpr std::uint64_t kMostGroups = 8;

// How far ahead of the codes at work memory is asked for (docs/kernels/grouped.md).
inline constexpr std::uint64_t kGroupedAhead = 8192;

// What a group looks like: its planes of scales and biases, and the bits of a code.
template <unsigned Bits, bool Biased, ScaleType Scales>
struct GroupFormat {
  static constexpr unsigned kBits = Bits;
  static constexpr bool kBiased = Biased;
  static constexpr ScaleType kScales = Scales;
  static constexpr std::uint64_t kPlaneBytes = kGroupedOutputs * 2;
  static constexpr std::uint64_t kPlanes = kPlaneBytes * (Biased ? 2 : 1);
  static constexpr std::uint64_t kPairBytes = kGroupedOutputs * 2 * Bits / 8;
};

// Where a tile finds codes as bf16: decoded in registers, straight from memory, which it asks for
// ahead of itself; or expanded into the first-level cache before.
template <typename Isa, typename Expand, typename Format>
struct Decoded {
  using Code = std::byte;
  static constexpr std::uint64_t kPair = Format::kPairBytes;
  template <std::size_t Columns>
  static void load(const Code* from, typename Isa::Pairs (&into)[Columns]) {
#pragma GCC unroll 2
    for (std::uint64_t line = 0; line < kPair; line += kLineBytes)
      __builtin_prefetch(from + kGroupedAhead + line);
    Expand::template decode<Format::kBits>(from, into);
  }
};
template <typename Isa>
struct Expanded {
  using Code = Bf16Pair;
  static constexpr std::uint64_t kPair = kGroupedOutputs;
  template <std::size_t Columns>
  static void load(const Code* from, typename Isa::Pairs (&into)[Columns]) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c) into[c] = Isa::pairs(from + c * Isa::kLanes);
  }
};

// The sums of a group to the totals: scale * sum, and bias * (sum of x), one rounding each.
// `planes` are the group's scales and biases of the tile's first output. Codes of formats with
// biases have half their range taken off, which the bias makes good.
template <typename Isa, typename Format, std::size_t Rows, std::size_t Columns>
[[gnu::always_inline]] inline void add_group(const typename Isa::Vector (&sum)[Rows][Columns],
                                             float* totals, const std::byte* planes,
                                             const float* x_sums) {
  // Totals are read here and not before: GCC 12 loads them ahead of the pairs, and spills them all.
  asm volatile("" ::: "memory");
  const auto* words = reinterpret_cast<const std::uint16_t*>(planes);
#pragma GCC unroll 8
  for (std::size_t c = 0; c < Columns; ++c, words += Isa::kLanes) {
    const auto scale = Isa::template widened<Format::kScales>(words);
    auto bias = scale;
    if constexpr (Format::kBiased) {
      const float shift = 1U << (Format::kBits - 1);
      bias = Isa::fused(Isa::template widened<ScaleType::kBf16>(words + kGroupedOutputs), scale,
                        Isa::spread(&shift));
    }
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
      float* at = totals + r * kGroupedOutputs + c * Isa::kLanes;
      auto total = Isa::fused(Isa::load(at), sum[r][c], scale);
      if constexpr (Format::kBiased)
        total = Isa::fused(total, bias, Isa::spread(x_sums + r * kMostGroups));
      Isa::store(at, total);
    }
  }
}

// One register tile of Rows x Columns vectors, over one group. Its sums start from zero, take its
// pairs in ascending order, and are then added to the totals. Rows of totals are kGroupedOutputs
// apart, rows of x kRowStride. Arguments in registers: tile.h says why.
template <typename Isa, typename Source, typename Format, std::size_t Rows, std::size_t Columns>
[[gnu::always_inline]] inline void run_grouped_tile(float* totals,
                                                    const typename Source::Code* codes,
                                                    const std::byte* planes,
                                                    const typename Isa::Activation* x,
                                                    const float* x_sums, std::uint64_t pairs) {
  typename Isa::Vector sum[Rows][Columns];
  const float zero = 0;
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c) sum[r][c] = Isa::spread(&zero);
  }
  for (std::uint64_t pair = 0; pair < pairs; ++pair) {
    typename Isa::Pairs w[Columns];
    Source::load(codes, w);
#pragma GCC unroll 2
    for (std::size_t step = 0; step < Isa::kSteps; ++step) {
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Rows; ++r) {
        const auto one = Isa::broadcast(x + r * kRowStride<Isa> + (Isa::kSteps - 1 - step));
#pragma GCC unroll 8
        for (std::size_t c = 0; c < Columns; ++c)
          sum[r][c] = Isa::multiply_add(sum[r][c], Isa::part(w[c], step), one);
      }
    }
    codes += Source::kPair;
    x += Isa::kSteps;
  }
  add_group<Isa, Format, Rows, Columns>(sum, totals, planes, x_sums);
}

// The groups of a block, for Rows rows of x and the outputs of a panel that Columns vectors reach.
// From a group to the next it is `code_stride` codes and `group_bytes` of the packed block.
template <typename Isa, typename Source, typename Format, std::size_t Rows, std::size_t Columns>
void run_groups(float* totals, const typename Source::Code* codes, std::uint64_t code_stride,
                const std::byte* planes, std::uint64_t group_bytes,
                const typename Isa::Activation* x, const float* x_sums, std::uint64_t groups,
                std::uint64_t pairs) {
  for (std::uint64_t g = 0; g < groups; ++g) {
    run_grouped_tile<Isa, Source, Format, Rows, Columns>(totals, codes, planes, x, x_sums + g,
                                                         pairs);
    codes += code_stride;
    planes += group_bytes;
    x += pairs * Isa::kSteps;
  }
}

// Rows of a tile at most. Six rows of a whole panel were faster than twelve of half of it, on Zen
// 5: docs/kernels/grouped.md.
template <typename Isa>
inline constexpr std::size_t kGroupedRows = Isa::kMostRows < 6 ? Isa::kMostRows : 6;

// run_groups of a row count.
template <typename Isa, typename Source, typename Format>
class GroupTiles {
 public:
  using Run = decltype(&run_groups<Isa, Source, Format, 1, Isa::columns(1)>);
  static Run of(std::uint64_t rows) {
    static constexpr Table kTable = make(std::make_index_sequence<kGroupedRows<Isa>>{});
    return kTable.run[rows - 1];
  }

 private:
  struct Table {
    Run run[kGroupedRows<Isa>];
  };
  template <std::size_t... Index>
  static constexpr Table make(std::index_sequence<Index...>) {
    return {{&run_groups<Isa, Source, Format, Index + 1, Isa::columns(Index + 1)>...}};
  }
};

}  // namespace tare::kernels
