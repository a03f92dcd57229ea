// The panel kernel, once for every instruction set. Included only by the files that instantiate it
// (avx512/panel.cpp and its like), each with an Isa type of internal linkage: so every
// instantiation is its object's own, and the linker cannot take an AVX-512 copy of a function for a
// processor without it.
//
// An Isa says:
//   kLanes                    f32 lanes of a Vector
//   kSteps                    multiply-adds one pair takes: 1 (the instruction does both), or 2
//   (odd, then even) kMostRows, columns(rows)  register tile: rows x columns accumulators; columns
//   * kLanes divides 64 Activation                x of one step: a whole Bf16Pair (1 step) or a
//   float (2 steps) activation(pair, step), weights(pointer, step), broadcast(pointer), load,
//   store, multiply_add(sum, weights, x) kKeepsNanPayload          whether a NaN sum already is the
//   one nan_of() names Control                   a guard object: subnormals are flushed while it
//   lives
//
// The order of additions of one output is k ascending in one accumulator, whatever the tile, the
// block, the row count or the thread: a block ends by storing its f32 sums and the next one starts
// from them, which is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/panel_task.h"

namespace tare::kernels {

// Pairs of k that all tiles of a panel go through before any goes on: 16 KiB of weights, which stay
// in L1 beside the x of 32 rows (16 KiB). Measured: docs/kernels/panel.md.
inline constexpr std::uint64_t kBlockPairs = 64;
inline constexpr std::uint64_t kFarAhead =
    4096;  // bytes that a single pass prefetches ahead; measured there too
inline constexpr std::uint64_t kLineBytes = 64;
inline constexpr std::uint64_t kPairLines = kPanelOutputs * sizeof(Bf16Pair) / kLineBytes;

// The sums of one panel, [row][64], and x as the tiles read it, [block][row][pair][step].
template <typename Isa>
struct PanelScratch {
  using Activation = typename Isa::Activation;

  static std::uint64_t sum_bytes(std::uint64_t rows) {
    return rows * kPanelOutputs * sizeof(float);
  }
  static std::uint64_t bytes(std::uint64_t pairs, std::uint64_t rows) {
    return sum_bytes(rows) + rows * pairs * Isa::kSteps * sizeof(Activation);
  }

  PanelScratch(void* memory, std::uint64_t rows)
      : sums(static_cast<float*>(memory)),
        x(reinterpret_cast<Activation*>(static_cast<std::byte*>(memory) + sum_bytes(rows))) {}

  float* sums;
  Activation* x;
};

// One register tile over one block: Rows x Columns vectors of sums. Meanwhile it prefetches
// `ahead`, Lines cache lines a pair, so that memory is read at an even pace however much arithmetic
// a pair takes.
template <typename Isa, std::size_t Rows, std::size_t Columns, std::size_t Lines>
void run_tile(float* sums, const Bf16Pair* weights, const typename Isa::Activation* x,
              std::uint64_t x_stride, std::uint64_t pairs, const std::byte* ahead) {
  typename Isa::Vector sum[Rows][Columns];
#pragma GCC unroll 8
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c) {
      sum[r][c] = Isa::load(sums + r * kPanelOutputs + c * Isa::kLanes);
    }
  }
  for (std::uint64_t pair = 0; pair < pairs; ++pair) {
#pragma GCC unroll 4
    for (std::size_t line = 0; line < Lines; ++line) {
      __builtin_prefetch(ahead + line * kLineBytes);
    }
    ahead += Lines * kLineBytes;
#pragma GCC unroll 2
    for (std::size_t step = 0; step < Isa::kSteps; ++step) {
      typename Isa::Weights w[Columns];
#pragma GCC unroll 8
      for (std::size_t c = 0; c < Columns; ++c) {
        w[c] = Isa::weights(weights + c * Isa::kLanes, step);
      }
#pragma GCC unroll 8
      for (std::size_t r = 0; r < Rows; ++r) {
        const auto one = Isa::broadcast(x + r * x_stride + step);
#pragma GCC unroll 8
        for (std::size_t c = 0; c < Columns; ++c) {
          sum[r][c] = Isa::multiply_add(sum[r][c], w[c], one);
        }
      }
    }
    weights += kPanelOutputs;
    x += Isa::kSteps;
  }
#pragma GCC unroll 8
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < Columns; ++c) {
      Isa::store(sums + r * kPanelOutputs + c * Isa::kLanes, sum[r][c]);
    }
  }
}

// The tile of a row count and a number of lines to prefetch a pair: 0, 1, 2 or 4.
template <typename Isa>
class Tiles {
 public:
  using Run = void (*)(float*, const Bf16Pair*, const typename Isa::Activation*, std::uint64_t,
                       std::uint64_t, const std::byte*);

  static Run of(std::uint64_t rows, std::uint64_t lines) {
    static constexpr Table kNone = make<0>(Heights{});
    static constexpr Table kOne = make<1>(Heights{});
    static constexpr Table kTwo = make<2>(Heights{});
    static constexpr Table kFour = make<4>(Heights{});
    const Table& table = lines == 0 ? kNone : lines == 1 ? kOne : lines == 2 ? kTwo : kFour;
    return table.run[rows - 1];
  }

 private:
  using Heights = std::make_index_sequence<Isa::kMostRows>;
  struct Table {
    Run run[Isa::kMostRows];
  };
  template <std::size_t Lines, std::size_t... Index>
  static constexpr Table make(std::index_sequence<Index...>) {
    return {{&run_tile<Isa, Index + 1, Isa::columns(Index + 1), Lines>...}};
  }
};

// One panel cut into tiles: row tiles of nearly equal height, each as wide as its registers allow.
template <typename Isa>
class Panel {
 public:
  using Activation = typename Isa::Activation;

  Panel(std::uint64_t rows, std::uint64_t pairs)
      : rows_(rows), pairs_(pairs), row_tiles_((rows + Isa::kMostRows - 1) / Isa::kMostRows) {
    for (std::uint64_t tile = 0; tile < row_tiles_; ++tile) passes_ += column_tiles(height(tile));
  }

  // One pass over a panel has no use for blocks.
  std::uint64_t block() const { return passes_ == 1 ? pairs_ : kBlockPairs; }

  void run(const Bf16Pair* weights, const Activation* x, float* sums) const {
    for (std::uint64_t i = 0; i < rows_ * kPanelOutputs; ++i) sums[i] = 0.0F;
    for (std::uint64_t first = 0; first < pairs_; first += block()) {
      const std::uint64_t left = pairs_ - first;
      run_block(weights + first * kPanelOutputs, x + first * rows_ * Isa::kSteps,
                left < block() ? left : block(), sums);
    }
  }

 private:
  std::uint64_t first_row(std::uint64_t tile) const { return rows_ * tile / row_tiles_; }
  std::uint64_t height(std::uint64_t tile) const { return first_row(tile + 1) - first_row(tile); }
  static std::uint64_t column_tiles(std::uint64_t height) {
    return kPanelOutputs / (Isa::columns(height) * Isa::kLanes);
  }
  // Each pass prefetches its share of the four lines that a pair of the next block takes.
  std::uint64_t lines(std::uint64_t pass) const {
    if (passes_ <= 2) return kPairLines / passes_;
    return pass < kPairLines ? 1 : 0;
  }

  void run_block(const Bf16Pair* weights, const Activation* x, std::uint64_t pairs,
                 float* sums) const {
    const auto* ahead = reinterpret_cast<const std::byte*>(weights) +
                        (passes_ == 1 ? kFarAhead : pairs * kPairLines * kLineBytes);
    std::uint64_t pass = 0;
    for (std::uint64_t tile = 0; tile < row_tiles_; ++tile) {
      const std::uint64_t row = first_row(tile);
      const std::uint64_t width = Isa::columns(height(tile)) * Isa::kLanes;
      for (std::uint64_t column = 0; column < kPanelOutputs; column += width, ++pass) {
        Tiles<Isa>::of(height(tile), lines(pass))(sums + row * kPanelOutputs + column,
                                                  weights + column, x + row * pairs * Isa::kSteps,
                                                  pairs * Isa::kSteps, pairs, ahead);
        ahead += lines(pass) * pairs * kLineBytes;
      }
    }
  }

  std::uint64_t rows_;
  std::uint64_t pairs_;
  std::uint64_t row_tiles_;
  std::uint64_t passes_ = 0;  // tiles that read a block
};

template <typename Isa>
void arrange_x(const PanelTask& task, std::uint64_t block, typename Isa::Activation* into) {
  for (std::uint64_t first = 0; first < task.pairs; first += block) {
    const std::uint64_t last = first + block < task.pairs ? first + block : task.pairs;
    for (std::uint64_t row = 0; row < task.rows; ++row) {
      for (std::uint64_t pair = first; pair < last; ++pair) {
        const Bf16Pair both = pair_at(task.x + row * task.k, task.k, pair);
        for (std::size_t step = 0; step < Isa::kSteps; ++step) {
          *into++ = Isa::activation(both, step);
        }
      }
    }
  }
}

template <typename Isa>
void store_panel(const PanelTask& task, std::uint64_t panel, const Bf16Pair* weights,
                 const float* sums) {
  const std::uint64_t first = panel * kPanelOutputs;
  const std::uint64_t outputs = task.n - first < kPanelOutputs ? task.n - first : kPanelOutputs;
  for (std::uint64_t row = 0; row < task.rows; ++row, sums += kPanelOutputs) {
    Bf16* y = task.y + row * task.n + first;
    std::uint32_t any_nan = 0;
    for (std::uint64_t j = 0; j < outputs; ++j) {
      y[j] = narrow(sums[j]);
      any_nan |= sums[j] != sums[j];
    }
    if (Isa::kKeepsNanPayload || any_nan == 0) continue;
    for (std::uint64_t j = 0; j < outputs; ++j) {
      if (is_nan(y[j])) y[j] = nan_of(task.x + row * task.k, task.k, weights + j, kPanelOutputs);
    }
  }
}

template <typename Isa>
void run_panels(const PanelTask& task) {
  [[maybe_unused]] const typename Isa::Control control;
  const PanelScratch<Isa> scratch(task.scratch, task.rows);
  const Panel<Isa> panel(task.rows, task.pairs);
  arrange_x<Isa>(task, panel.block(), scratch.x);
  for (std::uint64_t index = task.first_panel; index < task.last_panel; ++index) {
    const Bf16Pair* weights = task.weights + index * task.pairs * kPanelOutputs;
    panel.run(weights, scratch.x, scratch.sums);
    store_panel<Isa>(task, index, weights, scratch.sums);
  }
}

}  // namespace tare::kernels
