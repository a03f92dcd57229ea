// The panel kernel, once for every instruction set. Included only by the files that instantiate it
// (avx512/panel.cpp and its like), each with an Isa type of internal linkage: so every
// instantiation is its object's own, and the linker cannot take an AVX-512 copy of a function for a
// processor without it.
//
// An Isa says:
//   Pair                what a panel holds of an output: a Bf16Pair, or one f16 or f32, which then
//                       stands wherever a pair is spoken of
//   kLanes              f32 lanes of a Vector
//   kSteps              multiply-adds a pair takes: 1 (one instruction does both) or 2 (odd, even)
//   kMostRows           of a register tile
//   columns(rows)       vectors beside each other in it at most; columns * kLanes divides 64
//   Activation          x of one step: a whole Bf16Pair (1 step) or a float (a step an element)
//   arrange(x, pairs, into)          lays activations out, step by step
//   weights(pointer, step), broadcast(pointer), load, store, multiply_add(sum, weights, x)
//   and what grouped.h asks for; where it has kRunPairs (tile.h): plus(a, b)
//   kNan                which NaN a NaN sum is (chunk_sums.h)
//   Control             a guard object: subnormals are flushed while it lives
//
// The order of additions of one output is SumOrder's, whatever the tile, the block, the row count
// or the thread: within a chunk a block ends by storing its f32 sums and the next one starts from
// them, which is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/chunk_sums.h"
#include "kernels/cpu/panel_task.h"
#include "kernels/cpu/tile.h"

namespace tare::kernels {

template <typename Isa>
inline constexpr std::uint64_t kPairLines = kPanelOutputs * sizeof(typename Isa::Pair) / kLineBytes;

// The sums of one chunk, [lane][row][kPanelOutputs], and the totals so far of one panel,
// [row][kPanelOutputs], and x as the tiles read it.
template <typename Isa>
struct PanelScratch {
  using Activation = typename Isa::Activation;

  static std::uint64_t sums_of(std::uint64_t rows) { return rows * kPanelOutputs; }
  static std::uint64_t bytes(std::uint64_t pairs, std::uint64_t rows) {
    const std::uint64_t blocks = (pairs + Isa::kBlockPairs - 1) / Isa::kBlockPairs;
    return (Isa::kSumLanes + 1) * sums_of(rows) * sizeof(float) +
           blocks * rows * kRowStride<Isa> * sizeof(Activation);
  }

  PanelScratch(void* memory, std::uint64_t rows)
      : sums(static_cast<float*>(memory)),
        totals(sums + Isa::kSumLanes * sums_of(rows)),
        x(reinterpret_cast<Activation*>(totals + sums_of(rows))) {}

  float* sums;
  float* totals;
  Activation* x;
};

// How a panel is cut into tiles: row tiles of nearly equal height, each as wide as its registers
// allow; and what they prefetch, in bytes ahead of themselves, no further than `end`, and where to.
template <typename Isa>
class Tiling {
 public:
  Tiling(std::uint64_t rows, std::uint64_t ahead, const std::byte* end, Keep keep)
      : rows_(rows),
        row_tiles_((rows + Isa::kMostRows - 1) / Isa::kMostRows),
        base_height_(rows / row_tiles_),
        taller_(rows % row_tiles_),
        passes_(taller_ * column_tiles(base_height_ + 1) +
                (row_tiles_ - taller_) * column_tiles(base_height_)),
        ahead_(ahead),
        end_(end),
        keep_(keep) {}

  // Adds the products of a chunk of pairs to the sums of a panel. `x` is all of it, `weights` the
  // panel's first.
  void run(const typename Isa::Pair* weights, const typename Isa::Activation* x, Chunk chunk,
           float* sums) const {
    [[maybe_unused]] const typename Isa::Control control;
    std::uint64_t pairs = 0;
    for (std::uint64_t first = chunk.first; first < chunk.last; first += pairs) {
      const std::uint64_t into_block = first % Isa::kBlockPairs;
      const std::uint64_t in_block = Isa::kBlockPairs - into_block;
      const std::uint64_t in_chunk = chunk.last - first;
      pairs = with_one_prefetch(weights + first * kPanelOutputs,
                                in_block < in_chunk ? in_block : in_chunk);
      run_block(weights + first * kPanelOutputs,
                x + first / Isa::kBlockPairs * rows_ * kRowStride<Isa> + into_block * Isa::kSteps,
                pairs, sums);
    }
  }

 private:
  static std::uint64_t column_tiles(std::uint64_t height) {
    return kPanelOutputs / (panel_columns<Isa>(height) * Isa::kLanes);
  }

  const std::byte* ahead_of(const typename Isa::Pair* weights) const {
    return reinterpret_cast<const std::byte*>(weights) + ahead_;
  }

  // Of so many pairs those that all have something to prefetch, or all have not. What lies behind
  // `end` is another thread's, which reads it by itself.
  std::uint64_t with_one_prefetch(const typename Isa::Pair* weights, std::uint64_t pairs) const {
    const std::byte* const ahead = ahead_of(weights);
    if (Isa::kSumLanes > 1 || ahead >= end_) return pairs;
    auto left = static_cast<std::uint64_t>(end_ - ahead) / (kPairLines<Isa> * kLineBytes);
    if constexpr (constexpr std::uint64_t kRun = run_pairs<Isa>(); kRun != 0)
      left = left < kRun ? kRun : left / kRun * kRun;  // a run is not cut
    return left < pairs ? left : pairs;
  }

  // Each pass prefetches its share of the lines of a block. No division here: a tile takes some
  // 100 ns.
  void run_block(const typename Isa::Pair* weights, const typename Isa::Activation* x,
                 std::uint64_t pairs, float* sums) const {
    const std::byte* ahead = ahead_of(weights);
    const std::uint64_t lines = ahead < end_ ? kPairLines<Isa> : 0;
    std::uint64_t due = 0;  // in parts of passes_
    for (std::uint64_t lane = 0; lane < Isa::kSumLanes; ++lane) {
      run_lane(weights + lane * kPanelOutputs, x + lane * Isa::kSteps,
               (pairs + Isa::kSumLanes - 1 - lane) / Isa::kSumLanes,
               sums + lane * rows_ * kPanelOutputs, lines, ahead, due);
    }
  }

  void run_lane(const typename Isa::Pair* weights, const typename Isa::Activation* x,
                std::uint64_t pairs, float* sums, std::uint64_t lines_a_pair,
                const std::byte*& ahead, std::uint64_t& due) const {
    for (std::uint64_t tile = 0; tile < row_tiles_; ++tile) {
      const std::uint64_t height = base_height_ + (tile < taller_ ? 1 : 0);
      const std::uint64_t width = panel_columns<Isa>(height) * Isa::kLanes;
      for (std::uint64_t column = 0; column < kPanelOutputs; column += width) {
        std::uint64_t lines = 0;
        for (due += lines_a_pair; due >= passes_; due -= passes_) ++lines;
        Tiles<Isa>::of(height, lines, keep_)(sums + column, weights + column, x, pairs, ahead);
        ahead += lines * pairs * kLineBytes;
      }
      sums += height * kPanelOutputs;
      x += height * kRowStride<Isa>;
    }
  }

  std::uint64_t rows_;
  std::uint64_t row_tiles_;
  std::uint64_t base_height_;  // rows of a tile; the first `taller_` have one more
  std::uint64_t taller_;
  std::uint64_t passes_;  // tiles that read a block
  std::uint64_t ahead_;
  const std::byte* end_;
  Keep keep_;
};

template <typename Isa>
inline constexpr std::uint64_t kPairElements = std::is_same_v<typename Isa::Pair, Bf16Pair> ? 2 : 1;

// `rows` rows of k activations, as tiles read them.
template <typename Isa>
void arrange_x(const Bf16* all, std::uint64_t k, std::uint64_t rows,
               typename Isa::Activation* into) {
  constexpr std::uint64_t kElements = kPairElements<Isa>;
  for (std::uint64_t first = 0; first * kElements < k; first += Isa::kBlockPairs) {
    const std::uint64_t left = k / kElements - first;  // whole pairs
    const std::uint64_t pairs = left < Isa::kBlockPairs ? left : Isa::kBlockPairs;
    const bool padded = k % kElements != 0 && left < Isa::kBlockPairs;
    for (std::uint64_t row = 0; row < rows; ++row, into += kRowStride<Isa>) {
      const Bf16* x = all + row * k + kElements * first;
      Isa::arrange(x, pairs, into);
      if (padded) {
        const Bf16 last[2] = {x[kElements * pairs], 0};
        Isa::arrange(last, 1, into + pairs * Isa::kSteps);
      }
    }
  }
}

// The same of f32 activations, which the panels of single elements take as they are.
template <typename Isa>
void arrange_wide_x(const float* all, std::uint64_t k, std::uint64_t rows, float* into) {
  for (std::uint64_t first = 0; first < k; first += Isa::kBlockPairs) {
    const std::uint64_t left = k - first;
    const std::uint64_t elements = left < Isa::kBlockPairs ? left : Isa::kBlockPairs;
    for (std::uint64_t row = 0; row < rows; ++row, into += kRowStride<Isa>)
      std::memcpy(into, all + row * k + first, elements * sizeof(float));
  }
}

template <typename Isa>
void arrange_x(const PanelTask& task, typename Isa::Activation* into) {
  if constexpr (kPairElements<Isa> == 1) {
    if (task.wide_x != nullptr) return arrange_wide_x<Isa>(task.wide_x, task.k, task.rows, into);
  }
  arrange_x<Isa>(task.x, task.k, task.rows, into);
}

template <typename Isa>
void run_panel(const PanelTask& task, const Tiling<Isa>& tiling, const PanelScratch<Isa>& scratch,
               std::uint64_t panel) {
  const auto* weights =
      static_cast<const typename Isa::Pair*>(task.weights) + panel * task.pairs * kPanelOutputs;
  for (std::uint64_t first = 0; first < task.pairs; first += task.chunk_pairs) {
    const std::uint64_t last = first + task.chunk_pairs;
    const Chunk chunk{first, last < task.pairs ? last : task.pairs};
    const std::uint64_t elements = task.rows * kPanelOutputs;
    for (std::uint64_t i = 0; i < Isa::kSumLanes * elements; ++i) scratch.sums[i] = 0.0F;
    tiling.run(weights, scratch.x, chunk, scratch.sums);
    fold_lanes<Isa>(task.fold, scratch.sums, elements);
    add_chunk<Isa>(task, weights, chunk, scratch.sums, scratch.totals);
  }
  store_panel<Isa>(task, panel, scratch.totals);
}

// Where one tile is as wide as a panel and has all rows, its sums stay in registers for a chunk.
// Else all tiles go through a block of weights in the first-level cache before any goes on; tiles
// of 8 to 10 rows then keep 0.91 of the peak, of 12 rows 0.88, of 6 rows 0.83 (Zen 5, one thread).
// docs/kernels/panel.md.
template <typename Isa>
using OneTile = Blocked<Isa, 512>;
template <typename Isa>
struct ManyTiles : Blocked<Isa, 64> {
  static constexpr std::size_t kMostRows = Isa::kMostRows < 10 ? Isa::kMostRows : 10;
};
template <typename Isa>
bool fits_one_tile(std::uint64_t rows) {
  return rows <= Isa::kMostRows && panel_columns<Isa>(rows) * Isa::kLanes == kPanelOutputs;
}

// Bytes of weights that are asked for ahead of those at work: enough for the memory to stay busy
// while the processor is (docs/kernels/panel.md has the rates).
static inline std::uint64_t prefetch_distance(std::uint64_t rows) {
  return rows <= 8 ? 8192 : rows <= 12 ? 12288 : 16384;
}

// Other orders: a block must be long enough that a tile is worth its loads and stores of sums.
template <typename Isa, std::uint64_t SumLanes>
using Dealt = Blocked<Isa, 8 * SumLanes, SumLanes>;

template <typename Isa>
std::uint64_t scratch_bytes_in_order(std::uint64_t pairs, std::uint64_t rows, std::uint64_t) {
  return fits_one_tile<Isa>(rows) ? PanelScratch<OneTile<Isa>>::bytes(pairs, rows)
                                  : PanelScratch<ManyTiles<Isa>>::bytes(pairs, rows);
}
template <typename Isa>
std::uint64_t scratch_bytes(std::uint64_t pairs, std::uint64_t rows, std::uint64_t lanes) {
  if (lanes == 16) return PanelScratch<Dealt<Isa, 16>>::bytes(pairs, rows);
  if (lanes == 32) return PanelScratch<Dealt<Isa, 32>>::bytes(pairs, rows);
  return scratch_bytes_in_order<Isa>(pairs, rows, 1);
}

// The first weights are on their way while x is arranged.
static inline void prefetch_first(const std::byte* from, const std::byte* end, std::uint64_t bytes,
                                  Keep keep) {
  for (std::uint64_t at = 0; at < bytes && from + at < end; at += kLineBytes) {
    if (keep == Keep::kNowhere)
      __builtin_prefetch(from + at, 0, static_cast<int>(Keep::kNowhere));
    else
      __builtin_prefetch(from + at, 0, static_cast<int>(Keep::kEveryCache));
  }
}

template <typename Isa>
void run_blocked(const PanelTask& task) {
  const auto panel_at = [&](std::uint64_t panel) {
    return static_cast<const std::byte*>(task.weights) +
           panel * task.pairs * kPairLines<Isa> * kLineBytes;
  };
  const std::byte* const end = panel_at(task.last_panel);
  const std::uint64_t ahead = prefetch_distance(task.rows);
  prefetch_first(panel_at(task.first_panel), end, ahead, task.keep);
  const PanelScratch<Isa> scratch(task.scratch, task.rows);
  const Tiling<Isa> tiling(task.rows, ahead, end, task.keep);
  arrange_x<Isa>(task, scratch.x);
  for (std::uint64_t panel = task.first_panel; panel < task.last_panel; ++panel) {
    run_panel<Isa>(task, tiling, scratch, panel);
  }
}

// In orders of one lane.
template <typename Isa>
void run_panels_in_order(const PanelTask& task) {
  if (fits_one_tile<Isa>(task.rows))
    run_blocked<OneTile<Isa>>(task);
  else
    run_blocked<ManyTiles<Isa>>(task);
}

template <typename Isa>
void run_panels(const PanelTask& task) {
  if (task.lanes == 16)
    run_blocked<Dealt<Isa, 16>>(task);
  else if (task.lanes == 32)
    run_blocked<Dealt<Isa, 32>>(task);
  else
    run_panels_in_order<Isa>(task);
}

}  // namespace tare::kernels
