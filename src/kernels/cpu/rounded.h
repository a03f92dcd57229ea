// The grouped kernel for activations rounded to 8 bits: what ggml's quantised products are, and its
// like. x becomes int8 (rounded_x.h); codes are unsigned bytes, four of k in a 32-bit lane, and
// integers are multiplied and summed exactly over a group, in any order. Included only by the files
// that instantiate it with an Isa of internal linkage (see panel.h), which are compiled without
// contraction.
//
// An Isa says: kLanes; kMostRows<groups that share a step of x>, columns<those>(rows); Vector of
// f32: load, store, spread, times(a, b), fused(sum, a, b), f16(words), bytes<is unsigned>(pointer)
// as f32; Sums of int32: start(int), as_float(sums), codes<bits>(quad, column) of one vector of
// outputs, dot(sums, codes, four of x).
//
// One output is  sum over groups, ascending:  fma(scale, step * (sum of code * x), total). Of
// formats of two levels it is  sum over blocks of 256:  fma(d, sum over steps of x, ascending:
// fma(step, sum of scale * (sum of code * x), sum), total), then where there are biases  fma(dmin,
// sum over steps of x: fma(bias, -step * (sum of x), sum), total). A code's zero point is taken off
// in integers. Nothing in it depends on rows, tiles, threads or the instruction set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/control_word.h"
#include "kernels/cpu/grouped_task.h"
#include "kernels/cpu/rounded_tile.h"
#include "kernels/cpu/rounded_x.h"
#include "kernels/cpu/store_grouped.h"

namespace tare::kernels {
namespace {

// What lies in a thread's scratch: the totals of a panel, the sums of a block of two levels,
// x rounded, and what the rows' outputs are multiplied by.
struct RoundedScratch {
  static std::uint64_t totals_of(std::uint64_t rows) { return rows * kGroupedOutputs; }
  static std::uint64_t blocks_of(const GroupedShape& shape) {
    return (shape.k + kRoundedBlock - 1) / kRoundedBlock;
  }
  static std::uint64_t bytes(const GroupedShape& shape, std::uint64_t rows) {
    return 2 * totals_of(rows) * sizeof(float) + blocks_of(shape) * rows * sizeof(RoundedRow) +
           rows * sizeof(float);
  }

  RoundedScratch(void* memory, const GroupedShape& shape, std::uint64_t rows)
      : totals(static_cast<float*>(memory)),
        sums(totals + totals_of(rows)),
        x(reinterpret_cast<RoundedRow*>(sums + totals_of(rows))),
        lower(reinterpret_cast<float*>(x + blocks_of(shape) * rows)) {}

  float* totals;
  float* sums;
  RoundedRow* x;
  float* lower;
};

// A block's products to totals, or to its sums where it has two levels: all tiles, one under the
// other. `groups`: so many of x.
template <typename Isa, typename Format>
void multiply_rounded(std::uint64_t rows, float* totals, const std::byte* block,
                      const RoundedRow* x, std::uint64_t groups) {
  constexpr std::uint64_t kMostRows = RoundedTiles<Isa, Format, true>::kMostRows;
  const std::uint64_t tiles = (rows + kMostRows - 1) / kMostRows;
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    const std::uint64_t height = rows / tiles + (tile < rows % tiles ? 1 : 0);
    const auto run = tile == 0 ? RoundedTiles<Isa, Format, true>::of(height)
                               : RoundedTiles<Isa, Format, false>::of(height);
    run(totals, block + Format::kHeader, x, groups);
    totals += height * kGroupedOutputs;
    x += height;
  }
}

// A block's sums to totals, times its factor; and of its biases, which no tile has seen. `x`: the
// rows' of the block.
template <typename Isa, typename Format>
void add_levels(std::uint64_t rows, const float* sums, const std::byte* block, const RoundedRow* x,
                float* totals) {
  const std::byte* groups = block + Format::kHeader + kGroupedOutputs;  // their biases
  for (std::uint64_t output = 0; output < kGroupedOutputs; output += Isa::kLanes) {
    const auto scale = Isa::f16(block + 2 * output);
    typename Isa::Vector bias, biases[kRoundedGroups];
    if constexpr (Format::kBiased) {
      bias = Isa::f16(block + 2 * (kGroupedOutputs + output));
#pragma GCC unroll 8
      for (std::uint64_t g = 0; g < kRoundedGroups; ++g)
        biases[g] = Isa::template bytes<true>(groups + g * Format::kGroupBytes + output);
    }
    for (std::uint64_t row = 0; row < rows; ++row) {
      const std::uint64_t at = row * kGroupedOutputs + output;
      auto total = Isa::fused(Isa::load(totals + at), scale, Isa::load(sums + at));
      if constexpr (Format::kBiased) {
        auto sum = Isa::times(biases[0], Isa::spread(-x[row].sum[0]));
#pragma GCC unroll 8
        for (std::uint64_t g = 1; g < kRoundedGroups; ++g)
          sum = Isa::fused(sum, biases[g], Isa::spread(-x[row].sum[g]));
        total = Isa::fused(total, bias, sum);
      }
      Isa::store(totals + at, total);
    }
  }
}

template <typename Isa, typename Format>
void run_rounded_block(std::uint64_t rows, const RoundedScratch& scratch, const std::byte* block,
                       const RoundedRow* x, std::uint64_t groups) {
  ask_ahead<Format, true>(block, Format::kHeader);
  if constexpr (Format::kTwoLevel) {
    std::memset(scratch.sums, 0, RoundedScratch::totals_of(rows) * sizeof(float));
    multiply_rounded<Isa, Format>(rows, scratch.sums, block, x, groups);
    add_levels<Isa, Format>(rows, scratch.sums, block, x, scratch.totals);
  } else {
    multiply_rounded<Isa, Format>(rows, scratch.totals, block, x, groups);
  }
}

template <typename Isa, typename Format>
void run_rounded_format(const GroupedTask& task) {
  const GroupedShape& shape = task.shape;
  const RoundedScratch scratch(task.scratch, shape, task.rows);
  if (task.wide_x != nullptr)
    round_x<Format::kGroup>(task, task.wide_x, scratch.x, scratch.lower);
  else
    round_x<Format::kGroup>(task, task.x, scratch.x, scratch.lower);
  for (std::uint64_t panel = task.first_panel; panel < task.last_panel; ++panel) {
    const std::byte* block = task.weights + panel * shape.panel_bytes();
    const RoundedRow* x = scratch.x;
    std::memset(scratch.totals, 0, RoundedScratch::totals_of(task.rows) * sizeof(float));
    for (std::uint64_t first = 0; first < shape.k; first += kRoundedBlock) {
      const std::uint64_t groups = std::min(kRoundedGroups, (shape.k - first) / kRoundedGroup);
      run_rounded_block<Isa, Format>(task.rows, scratch, block, x, groups);
      block += Format::kHeader + groups * Format::kParts * Format::kGroupBytes;
      x += task.rows;
    }
    store_grouped(task, panel, scratch.totals, scratch.lower);
  }
}

template <typename Isa>
void run_rounded(const GroupedTask& task) {
  [[maybe_unused]] const KeepSubnormals control;
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
