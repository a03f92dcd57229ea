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

// Asks for memory ahead of codes at work. All tiles do, though the first asks for the same: left to
// it, Q6_K at 8 rows took 192 us for 152, at 32 rows 515 for 532 (docs/kernels/grouped.md).
template <typename Format>
[[gnu::always_inline]] inline void ask_ahead(const std::byte* from, std::uint64_t bytes) {
#pragma GCC unroll 4
  for (std::uint64_t line = 0; line < bytes; line += kLineBytes)
    __builtin_prefetch(from + Format::kAhead + line);
}

template <typename Isa, typename Format, std::size_t Column, std::size_t Rows, std::size_t Columns>
[[gnu::always_inline]] inline void multiply_quad(typename Isa::Sums (&sum)[Rows][Columns],
                                                 const std::byte* codes, const Quad* four) {
  constexpr std::uint64_t kRow = sizeof(RoundedRow) / sizeof(Quad);
  static_assert(sizeof(RoundedRow) % sizeof(Quad) == 0, "rows are whole words apart");
  ask_ahead<Format>(codes, Format::kQuadBytes);
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
template <typename Isa, typename Format, bool First, std::size_t Column, std::size_t Rows,
          std::size_t Columns>
[[gnu::always_inline]] inline void sum_quads(typename Isa::Sums (&sum)[Rows][Columns],
                                             const std::byte* codes, const Quad* four) {
  const auto one = [&](std::uint64_t quad) __attribute__((always_inline)) {
    multiply_quad<Isa, Format, Column>(sum, codes + quad * Format::kQuadBytes, four + quad);
  };
  if constexpr (First) {
// Not unrolled where codes come from memory: loads then run ahead of what was asked for, and q8_0
// read at 0.83 of the stream that is read at 0.95 (docs/kernels/grouped.md).
#pragma GCC unroll 1
    for (std::uint64_t quad = 0; quad < Format::kGroup / 4; ++quad) one(quad);
  } else {
#pragma GCC unroll 8
    for (std::uint64_t quad = 0; quad < Format::kGroup / 4; ++quad) one(quad);
  }
}

// Scale and bias of the vector of outputs from `output` on: `planes` are the group's, `header` the
// block's, whose factors make products exact in f32.
template <typename Isa, typename Format>
[[gnu::always_inline]] inline typename Isa::Vector scale_of(const std::byte* header,
                                                            const std::byte* planes,
                                                            std::uint64_t output) {
  if constexpr (!Format::kTwoLevel) return Isa::f16(planes + 2 * output);
  return Isa::times(Isa::f16(header + 2 * output),
                    Isa::template bytes<Format::kBiased>(planes + output));
}
template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Vector bias_of(const std::byte* header,
                                                           const std::byte* planes,
                                                           std::uint64_t output) {
  return Isa::times(Isa::f16(header + 2 * (kGroupedOutputs + output)),
                    Isa::template bytes<true>(planes + kGroupedOutputs + output));
}

// Sums times scales of the groups that share a step of x, from `Part` on.
template <typename Isa, typename Format, bool First, std::size_t Column, std::size_t Part,
          std::size_t Rows, std::size_t Columns>
[[gnu::always_inline]] inline void multiply_parts(typename Isa::Vector (&product)[Rows][Columns],
                                                  const std::byte* header, const std::byte* group,
                                                  const RoundedRow* x, std::uint64_t g) {
  constexpr std::uint64_t kQuads = Format::kGroup / 4;
  typename Isa::Sums sum[Rows][Columns];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c)
      sum[r][c] = Isa::start(x[r].start[g * Format::kParts + Part]);
  }
  ask_ahead<Format>(group, Format::kPlanes);
  sum_quads<Isa, Format, First, Column>(sum, group + Format::kPlanes,
                                        x->x + (g * Format::kParts + Part) * kQuads);
#pragma GCC unroll 8
  for (std::size_t c = 0; c < Columns; ++c) {
    const auto scale = scale_of<Isa, Format>(header, group, (Column + c) * Isa::kLanes);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto one = Isa::as_float(sum[r][c]);
      if constexpr (Part == 0)
        product[r][c] = Isa::times(one, scale);
      else
        product[r][c] = Isa::fused(product[r][c], one, scale);
    }
  }
  if constexpr (Part + 1 < Format::kParts)
    multiply_parts<Isa, Format, First, Column, Part + 1>(product, header,
                                                         group + Format::kGroupBytes, x, g);
}

// Rows x Columns vectors, and so on from `Column` of the panel to its end, over the groups of x
// [first, last) of a block with that header. `groups` are the packed ones from the first on. Rows
// of `totals` are kGroupedOutputs apart. Arguments in registers: tile.h says why.
template <typename Isa, typename Format, bool First, std::size_t Rows, std::size_t Columns,
          std::size_t Column = 0>
void run_rounded_tile(float* totals, const std::byte* header, const std::byte* groups,
                      const RoundedRow* x, std::uint64_t first, std::uint64_t last) {
  const std::byte* group = groups;
  for (std::uint64_t g = first; g < last; ++g) {
    typename Isa::Vector product[Rows][Columns];
    multiply_parts<Isa, Format, First, Column, 0>(product, header, group, x, g);
    asm volatile("" ::: "memory");  // totals are read here and not before: grouped_tile.h
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c) {
      const std::uint64_t output = (Column + c) * Isa::kLanes;
      typename Isa::Vector bias;
      if constexpr (Format::kBiased) bias = bias_of<Isa>(header, group, output);
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Rows; ++r) {
        float* at = totals + r * kGroupedOutputs + output;
        auto total = Isa::fused(Isa::load(at), product[r][c], Isa::spread(x[r].step[g]));
        if constexpr (Format::kBiased) total = Isa::fused(total, bias, Isa::spread(x[r].less[g]));
        Isa::store(at, total);
      }
    }
    group += Format::kParts * Format::kGroupBytes;
  }
  if constexpr ((Column + Columns) * Isa::kLanes < kGroupedOutputs)
    run_rounded_tile<Isa, Format, false, Rows, Columns, Column + Columns>(totals, header, groups, x,
                                                                          first, last);
}

// run_rounded_tile of a row count.
template <typename Isa, typename Format, bool First>
class RoundedTiles {
 public:
  static constexpr std::size_t kMostRows = Isa::template kMostRows<Format::kParts>;
  using Run = void (*)(float* totals, const std::byte* header, const std::byte* groups,
                       const RoundedRow* x, std::uint64_t first, std::uint64_t last);
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
    return {{&run_rounded_tile<Isa, Format, First, Index + 1,
                               Isa::template columns<Format::kParts>(Index + 1, First)>...}};
  }
};

}  // namespace
}  // namespace tare::kernels
