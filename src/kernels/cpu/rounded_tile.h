// The register tile of the kernel of rounded activations, once for every instruction set (see
// rounded.h for what an Isa says).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/cpu/grouped_task.h"
#include "kernels/cpu/rounded_x.h"
#include "kernels/cpu/tile.h"

namespace tare::kernels {
namespace {

// How many bytes ahead of the codes at work memory is asked for: codes of 8 bits are used up sooner
// (docs/kernels/grouped.md).
constexpr std::uint64_t rounded_ahead(unsigned bits) {
  return bits == 8 ? 6144 : 8192;
}

template <unsigned Bits, ScaleType Scales, bool Biased, std::uint64_t Group>
struct RoundedFormat {
  static constexpr unsigned kBits = Bits;
  static constexpr std::uint64_t kAhead = rounded_ahead(Bits);
  static constexpr bool kTwoLevel = Scales == ScaleType::kTwoLevel;
  static constexpr bool kBiased = Biased;
  static constexpr std::uint64_t kGroup = Group;
  static constexpr std::size_t kParts = kRoundedGroup / Group;  // groups that share a step of x
  static constexpr std::uint64_t kPlaneBytes = kGroupedOutputs * (kTwoLevel ? 1 : 2);
  static constexpr std::uint64_t kPlanes = kPlaneBytes * (Biased ? 2 : 1);
  static constexpr std::uint64_t kQuadBytes = kGroupedOutputs * 4 * Bits / 8;
  static constexpr std::uint64_t kGroupBytes = kPlanes + Group / 4 * kQuadBytes;
  static constexpr std::uint64_t kHeader = kTwoLevel ? kGroupedOutputs * 2 * (Biased ? 2 : 1) : 0;
};

// Asks for memory ahead of codes at work: the first tile of a panel does, for all.
template <typename Format, bool Leads>
[[gnu::always_inline]] inline void ask_ahead(const std::byte* from, std::uint64_t bytes) {
  if constexpr (Leads) {
#pragma GCC unroll 4
    for (std::uint64_t line = 0; line < bytes; line += kLineBytes)
      __builtin_prefetch(from + Format::kAhead + line);
  }
}

template <typename Isa, typename Format, bool Leads, std::size_t Column, std::size_t Rows,
          std::size_t Columns>
[[gnu::always_inline]] inline void multiply_quad(typename Isa::Sums (&sum)[Rows][Columns],
                                                 const std::byte* codes, const Quad* four) {
  constexpr std::uint64_t kRow = sizeof(RoundedRow) / sizeof(Quad);
  static_assert(sizeof(RoundedRow) % sizeof(Quad) == 0, "rows are whole words apart");
  ask_ahead<Format, Leads>(codes, Format::kQuadBytes);
  typename Isa::Codes w[Columns];
#pragma GCC unroll 8
  for (std::size_t c = 0; c < Columns; ++c)
    w[c] = Isa::template codes<Format::kBits>(codes, Column + c);
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c) sum[r][c] = Isa::dot(sum[r][c], w[c], four[r * kRow]);
  }
}

// The integer sums of one group, from x's `start` on. `codes`: its first quad, `four`: of x.
template <typename Isa, typename Format, bool Leads, std::size_t Column, std::size_t Rows,
          std::size_t Columns>
[[gnu::always_inline]] inline void sum_quads(typename Isa::Sums (&sum)[Rows][Columns],
                                             const std::byte* codes, const Quad* four) {
  const auto one = [&](std::uint64_t quad) __attribute__((always_inline)) {
    multiply_quad<Isa, Format, Leads, Column>(sum, codes + quad * Format::kQuadBytes, four + quad);
  };
  if constexpr (Rows < 3) {
// Not unrolled where memory bounds: loads then run ahead of what was asked for, and q8_0 read at
// 0.83 of the stream that is read at 0.95 (docs/kernels/grouped.md).
#pragma GCC unroll 1
    for (std::uint64_t quad = 0; quad < Format::kGroup / 4; ++quad) one(quad);
  } else {
#pragma GCC unroll 8
    for (std::uint64_t quad = 0; quad < Format::kGroup / 4; ++quad) one(quad);
  }
}

// The products of the groups that share a step of x: of two levels, sums times their scales of the
// lower one, which are integers below 2^24, exact. From `Part` on.
template <typename Isa, typename Format, bool Leads, std::size_t Column, std::size_t Part,
          std::size_t Rows, std::size_t Columns>
[[gnu::always_inline]] inline void multiply_parts(typename Isa::Vector (&product)[Rows][Columns],
                                                  const std::byte* group, const RoundedRow* x,
                                                  std::uint64_t g) {
  constexpr std::uint64_t kQuads = Format::kGroup / 4;
  typename Isa::Sums sum[Rows][Columns];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c)
      sum[r][c] = Isa::start(x[r].start[g * Format::kParts + Part]);
  }
  ask_ahead<Format, Leads>(group, Format::kPlanes);
  sum_quads<Isa, Format, Leads, Column>(sum, group + Format::kPlanes,
                                        x->x + (g * Format::kParts + Part) * kQuads);
#pragma GCC unroll 8
  for (std::size_t c = 0; c < Columns; ++c) {
    typename Isa::Vector scale;
    if constexpr (Format::kTwoLevel)
      scale = Isa::template bytes<Format::kBiased>(group + (Column + c) * Isa::kLanes);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto one = Isa::as_float(sum[r][c]);
      if constexpr (!Format::kTwoLevel)
        product[r][c] = one;
      else if constexpr (Part == 0)
        product[r][c] = Isa::times(one, scale);
      else
        product[r][c] = Isa::fused(product[r][c], one, scale);
    }
  }
  if constexpr (Part + 1 < Format::kParts)
    multiply_parts<Isa, Format, Leads, Column, Part + 1>(product, group + Format::kGroupBytes, x,
                                                         g);
}

// Rows x Columns vectors, and so on from `Column` of the panel to its end, over the groups of x
// of a block. `groups` are its packed ones. Products are added to `totals`, or of two levels to the
// sums of the block; rows of either are kGroupedOutputs apart. Arguments in registers: tile.h says
// why.
template <typename Isa, typename Format, bool Leads, std::size_t Rows, std::size_t Columns,
          std::size_t Column = 0>
void run_rounded_tile(float* totals, const std::byte* groups, const RoundedRow* x,
                      std::uint64_t count) {
  const std::byte* group = groups;
  for (std::uint64_t g = 0; g < count; ++g) {
    typename Isa::Vector product[Rows][Columns];
    multiply_parts<Isa, Format, Leads, Column, 0>(product, group, x, g);
    asm volatile("" ::: "memory");  // totals are read here and not before: grouped_tile.h
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c) {
      const std::uint64_t output = (Column + c) * Isa::kLanes;
      typename Isa::Vector scale;
      if constexpr (!Format::kTwoLevel) scale = Isa::f16(group + 2 * output);
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Rows; ++r) {
        float* at = totals + r * kGroupedOutputs + output;
        const auto step = Isa::spread(x[r].step[g]);
        if constexpr (Format::kTwoLevel)
          Isa::store(at, Isa::fused(Isa::load(at), product[r][c], step));
        else
          Isa::store(at, Isa::fused(Isa::load(at), scale, Isa::times(product[r][c], step)));
      }
    }
    group += Format::kParts * Format::kGroupBytes;
  }
  if constexpr ((Column + Columns) * Isa::kLanes < kGroupedOutputs)
    run_rounded_tile<Isa, Format, false, Rows, Columns, Column + Columns>(totals, groups, x, count);
}

// run_rounded_tile of a row count.
template <typename Isa, typename Format, bool Leads>
class RoundedTiles {
 public:
  static constexpr std::size_t kMostRows = Isa::template kMostRows<Format::kParts>;
  using Run = void (*)(float* totals, const std::byte* groups, const RoundedRow* x,
                       std::uint64_t count);
  static Run of(std::uint64_t rows) {
    static constexpr Table kTable = make(std::make_index_sequence<kMostRows>{});
    return kTable.run[rows - 1];
  }

 private:
  struct Table {
    Run run[kMostRows];
  };
  template <std::size_t... Index>
  static constexpr Table make(std::index_sequence<Index...>) {
    return {{&run_rounded_tile<Isa, Format, Leads, Index + 1,
                               Isa::template columns<Format::kParts>(Index + 1)>...}};
  }
};

}  // namespace
}  // namespace tare::kernels
