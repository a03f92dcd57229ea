// The register tile of the panel kernel, once for every instruction set (see panel.h for what an
// Isa says).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/panel_task.h"
#include "kernels/cpu/prefetch.h"

namespace tare::kernels {

inline constexpr std::uint64_t kLineBytes = 64;

// An Isa with the pairs of k that all tiles of a panel go through before any goes on. Shorter
// blocks store and load every sum more often; longer ones leave less of L1 to all else.
//
// With SumLanes of more than one, pairs are dealt to so many sums in turn (SumOrder::lanes); a tile
// then goes through those of one sum.
template <typename Isa, std::uint64_t Pairs, std::uint64_t SumLanes = 1>
struct Blocked : Isa {
  static_assert(Pairs % SumLanes == 0, "a block deals to each sum alike");
  static constexpr std::uint64_t kBlockPairs = Pairs;
  static constexpr std::uint64_t kSumLanes = SumLanes;
};

// x as tiles read it: [block][row][pair][element of the pair], every block of full length. Rows of
// long blocks are a cache line further apart: 2 or 4 KiB apart, all of them would lie in the same
// few sets of the first-level cache.
template <typename Isa>
inline constexpr std::uint64_t kRowStride = Isa::kBlockPairs* Isa::kSteps +
                                            (Isa::kBlockPairs < 256 ? 0 : kLineBytes / 4);

// Pairs that are added from zero before they join a tile's sums, where an Isa has such runs; 0
// where it has none. Blocks are whole runs.
template <typename Isa>
constexpr std::uint64_t run_pairs() {
  if constexpr (requires { Isa::kRunPairs; }) return Isa::kRunPairs;
  return 0;
}

// The products of a pair, and on to the next.
template <typename Isa, std::size_t Lines, Keep keep, std::size_t Rows, std::size_t Columns>
[[gnu::always_inline]] inline void multiply_pair(typename Isa::Vector (&sum)[Rows][Columns],
                                                 const typename Isa::Pair*& weights,
                                                 const typename Isa::Activation*& x,
                                                 const std::byte*& ahead) {
#pragma GCC unroll 4
  for (std::size_t line = 0; line < Lines; ++line) {
    __builtin_prefetch(ahead + line * kLineBytes, 0, static_cast<int>(keep));
  }
  ahead += Lines * kLineBytes;
#pragma GCC unroll 2
  for (std::size_t step = 0; step < Isa::kSteps; ++step) {
    typename Isa::Weights w[Columns];
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c) {
      w[c] = Isa::weights(weights + c * Isa::kLanes, step);
    }
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto one = Isa::broadcast(x + r * kRowStride<Isa> + (Isa::kSteps - 1 - step));
#pragma GCC unroll 8
      for (std::size_t c = 0; c < Columns; ++c) {
        sum[r][c] = Isa::multiply_add(sum[r][c], w[c], one);
      }
    }
  }
  weights += kPanelOutputs * Isa::kSumLanes;
  x += Isa::kSteps * Isa::kSumLanes;
}

// One register tile: Rows x Columns vectors of sums, over some pairs of a block, kSumLanes apart.
// Rows of sums are kPanelOutputs apart, pairs of weights kPanelOutputs, rows of x kRowStride. It
// prefetches Lines cache lines a pair from `ahead` on, so that memory is read at an even pace
// however much arithmetic a pair takes.
//
// Its arguments go in registers. As a structure on the stack they were written in words and read as
// vectors: a load that waits for the stores before it to leave, the tile's sums among them, and so
// drains the processor at every call (docs/kernels/panel.md).
template <typename Isa, std::size_t Rows, std::size_t Columns, std::size_t Lines, Keep keep>
void run_tile(float* sums, const typename Isa::Pair* weights, const typename Isa::Activation* x,
              std::uint64_t pairs, const std::byte* ahead) {
  constexpr std::uint64_t kRun = run_pairs<Isa>();
  if constexpr (kRun != 0) {
    for (std::uint64_t first = 0; first < pairs; first += kRun) {
      const float zero = 0;
      typename Isa::Vector run[Rows][Columns];
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
        for (std::size_t c = 0; c < Columns; ++c) run[r][c] = Isa::spread(&zero);
      }
      const std::uint64_t last = first + kRun < pairs ? first + kRun : pairs;
      for (std::uint64_t pair = first; pair < last; ++pair)
        multiply_pair<Isa, Lines, keep>(run, weights, x, ahead);
      // Sums are read here and not before: GCC 12 keeps them in registers, and spills them.
      asm volatile("" ::: "memory");
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
        for (std::size_t c = 0; c < Columns; ++c) {
          float* const at = sums + r * kPanelOutputs + c * Isa::kLanes;
          Isa::store(at, Isa::plus(Isa::load(at), run[r][c]));
        }
      }
    }
    return;
  }
  typename Isa::Vector sum[Rows][Columns];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c) {
      sum[r][c] = Isa::load(sums + r * kPanelOutputs + c * Isa::kLanes);
    }
  }
  for (std::uint64_t pair = 0; pair < pairs; ++pair)
    multiply_pair<Isa, Lines, keep>(sum, weights, x, ahead);
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c) {
      Isa::store(sums + r * kPanelOutputs + c * Isa::kLanes, sum[r][c]);
    }
  }
}

// Vectors beside each other in a tile of a panel.
template <typename Isa>
constexpr std::size_t panel_columns(std::size_t rows) {
  const std::size_t whole = kPanelOutputs / Isa::kLanes;
  return Isa::columns(rows) < whole ? Isa::columns(rows) : whole;
}

// The tile of a row count and a number of lines to prefetch a pair: 0, 1 or 2; and where to.
template <typename Isa>
class Tiles {
 public:
  using Run = decltype(&run_tile<Isa, 1, panel_columns<Isa>(1), 0, Keep::kNowhere>);

  static Run of(std::uint64_t rows, std::uint64_t lines, Keep keep) {
    static constexpr Table kNone = make<0, Keep::kNowhere>(Heights{});
    const Table& table = lines == 0                  ? kNone
                         : keep == Keep::kEveryCache ? some<Keep::kEveryCache>(lines)
                                                     : some<Keep::kNowhere>(lines);
    return table.run[rows - 1];
  }

 private:
  using Heights = std::make_index_sequence<Isa::kMostRows>;
  struct Table {
    Run run[Isa::kMostRows];
  };
  template <Keep keep>
  static const Table& some(std::uint64_t lines) {
    static constexpr Table kOne = make<1, keep>(Heights{});
    static constexpr Table kTwo = make<2, keep>(Heights{});
    return lines == 1 ? kOne : kTwo;
  }
  template <std::size_t Lines, Keep keep, std::size_t... Index>
  static constexpr Table make(std::index_sequence<Index...>) {
    return {{&run_tile<Isa, Index + 1, panel_columns<Isa>(Index + 1), Lines, keep>...}};
  }
};

}  // namespace tare::kernels
