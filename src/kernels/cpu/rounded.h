// The grouped kernel for activations rounded to 8 bits: what ggml's quantised products are, and its
// like. x becomes int8 (rounded_x.h); codes are unsigned bytes, four of k in a 32-bit lane, and
// integers are multiplied and summed exactly over a group, in any order. Included only by the files
// that instantiate it with an Isa of internal linkage (see panel.h), which are compiled without
// contraction.
//
// An Isa says: kLanes; kMostRows<groups that share a step of x> and columns<those>(rows, whether it
// is the first) of a tile; Vector of f32: load, store, spread, times(a, b), fused(sum, a, b),
// f16(words), bytes<is unsigned>(pointer) as f32; Sums of int32: start(int), as_float(sums),
// codes<bits>(quad, column) of one vector of outputs, dot(sums, codes, four of x).
//
// One output is  sum over steps of x, ascending:  fma(step, sum of scale * (sum of code * x) over
// the groups of that step, total), then where there are biases  fma(bias, -step * (sum of x),
// total). Formats of two levels add so from zero over a block of 256, and then the block to the
// total. A code's zero point is taken off in integers. Nothing in it depends on rows, tiles,
// threads or the instruction set.
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

// All tiles, one under the other, over the groups of x [first, last) of a block.
template <typename Isa, typename Format>
void run_rounded_tiles(std::uint64_t rows, float* totals, const std::byte* header,
                       const std::byte* groups, const RoundedRow* x, std::uint64_t first,
                       std::uint64_t last) {
  constexpr std::uint64_t kMostRows = RoundedTiles<Isa, Format, true>::kMostRows;
  const std::uint64_t tiles = (rows + kMostRows - 1) / kMostRows;
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    const std::uint64_t height = rows / tiles + (tile < rows % tiles ? 1 : 0);
    const auto run = tile == 0 ? RoundedTiles<Isa, Format, true>::of(height)
                               : RoundedTiles<Isa, Format, false>::of(height);
    run(totals, header, groups, x, first, last);
    totals += height * kGroupedOutputs;
    x += height;
  }
}

// Groups of x that all tiles go through before any goes on: the first tile waits for memory, which
// would rest for as long as others are at work on a block (docs/kernels/grouped.md).
constexpr std::uint64_t kGroupsAtOnce = 1;

// Adds a block's products to totals, or to its sums where it has two levels. `groups`: so many of
// x.
template <typename Isa, typename Format>
void multiply_rounded(std::uint64_t rows, float* totals, const std::byte* block,
                      const RoundedRow* x, std::uint64_t groups) {
  const bool one_tile =
      rows <= RoundedTiles<Isa, Format, true>::kMostRows &&
      Isa::template columns<Format::kParts>(rows, true) * Isa::kLanes == kGroupedOutputs;
  const std::uint64_t at_once = one_tile ? groups : kGroupsAtOnce;
  const std::byte* from = block + Format::kHeader;
  for (std::uint64_t g = 0; g < groups; g += at_once) {
    const std::uint64_t last = std::min(g + at_once, groups);
    run_rounded_tiles<Isa, Format>(rows, totals, block, from, x, g, last);
    from += at_once * Format::kParts * Format::kGroupBytes;
  }
}

template <typename Isa, typename Format>
void run_rounded_block(std::uint64_t rows, const RoundedScratch& scratch, const std::byte* block,
                       const RoundedRow* x, std::uint64_t groups) {
  ask_ahead<Format>(block, Format::kHeader);
  if constexpr (!Format::kTwoLevel)
    return multiply_rounded<Isa, Format>(rows, scratch.totals, block, x, groups);
  const std::uint64_t count = RoundedScratch::totals_of(rows);
  std::memset(scratch.sums, 0, count * sizeof(float));
  multiply_rounded<Isa, Format>(rows, scratch.sums, block, x, groups);
  for (std::uint64_t i = 0; i < count; ++i) scratch.totals[i] += scratch.sums[i];
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
