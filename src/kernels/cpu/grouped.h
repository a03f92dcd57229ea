// The grouped kernel, once for every instruction set: quantised weights, whose codes are small
// integers with a scale (and a bias) a group. Codes become bf16, which holds 8-bit integers
// exactly, and are multiplied as the panel kernel does it: products of code and x are exact. Where
// an instruction set decodes in registers it does so in every tile; else, or where decoding is dear
// and rows are many, a block is expanded in the first-level cache first. Included only by the files
// that instantiate it with an Isa of internal linkage (see panel.h).
//
// An Isa says what panel.h asks for, and
//   Pairs, pairs(pointer), part(pairs, step)   weights of a vector of pairs, and of one step of it
//   fused(sum, a, b), spread(pointer), widened<ScaleType>(words)      of plain f32 vectors
// An Expand says how codes become Bf16Pair:
//   int8(bytes, pairs), int4(bytes, pairs)   one pair of 64 outputs, as packed
//   decode<bits>(bytes, vectors)             the same in four vectors of 16; where it can
//
// One output is  sum over groups, ascending:  fma(scale, sum of its pairs, total), then where there
// are biases fma(bias, sum of x, total). Nothing in it depends on rows, tiles, threads or the
// instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/grouped_task.h"
#include "kernels/cpu/grouped_tile.h"
#include "kernels/cpu/panel.h"
#include "kernels/cpu/store_grouped.h"
#include "kernels/cpu/sum_of_x.h"

namespace tare::kernels {

// What lies in a thread's scratch: one expanded block, the totals of a panel, x as tiles read it,
// and x's sums [block][row][kMostGroups].
template <typename Isa>
struct GroupedScratch {
  using Activation = typename Isa::Activation;

  static std::uint64_t blocks_of(const GroupedShape& shape) {
    return (shape.pairs() + kGroupedBlockPairs - 1) / kGroupedBlockPairs;
  }
  static std::uint64_t x_of(const GroupedShape& shape, std::uint64_t rows) {
    return blocks_of(shape) * rows * kRowStride<Isa>;
  }
  static std::uint64_t bytes(const GroupedShape& shape, std::uint64_t rows) {
    return kGroupedBlockPairs * kGroupedOutputs * sizeof(Bf16Pair) +
           rows * kGroupedOutputs * sizeof(float) + x_of(shape, rows) * sizeof(Activation) +
           blocks_of(shape) * rows * kMostGroups * sizeof(float);
  }

  GroupedScratch(void* memory, const GroupedShape& shape, std::uint64_t rows)
      : codes(static_cast<Bf16Pair*>(memory)),
        totals(reinterpret_cast<float*>(codes + kGroupedBlockPairs * kGroupedOutputs)),
        x(reinterpret_cast<Activation*>(totals + rows * kGroupedOutputs)),
        x_sums(reinterpret_cast<float*>(x + x_of(shape, rows))) {}

  Bf16Pair* codes;
  float* totals;
  Activation* x;
  float* x_sums;
};

// The part of a panel that lies between two borders of 64 pairs.
struct GroupedBlock {
  const std::byte* from;  // its first group
  std::uint64_t groups;
  std::uint64_t pairs;  // of each group
  std::uint64_t group_bytes;
};

// Whether an instruction set decodes in registers.
template <typename Expand>
concept DecodesDirectly = requires {
  typename Expand::DecodesDirectly;
};

template <typename Expand, typename Format>
void expand_block(const GroupedBlock& block, Bf16Pair* codes) {
  for (std::uint64_t g = 0; g < block.groups; ++g) {
    const std::byte* group = block.from + g * block.group_bytes;
    for (std::uint64_t at = 0; at < block.group_bytes; at += kLineBytes)
      __builtin_prefetch(group + kGroupedAhead + at);
    group += Format::kPlanes;
    for (std::uint64_t pair = 0; pair < block.pairs; ++pair, codes += kGroupedOutputs) {
      if constexpr (Format::kBits == 4) {
        Expand::int4(group + pair * Format::kPairBytes, codes);
      } else {
        Expand::int8(group + pair * Format::kPairBytes, codes);
      }
    }
  }
}

// A block's products to the totals. Row tiles of nearly equal height, as the panel kernel's.
template <typename Isa, typename Source, typename Format>
void multiply_block(std::uint64_t rows, const GroupedBlock& block,
                    const typename Source::Code* codes, std::uint64_t code_stride,
                    const typename Isa::Activation* x, const float* x_sums, float* totals) {
  const std::uint64_t tiles = (rows + kGroupedRows<Isa> - 1) / kGroupedRows<Isa>;
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    const std::uint64_t height = rows / tiles + (tile < rows % tiles ? 1 : 0);
    const std::uint64_t width = Isa::columns(height) * Isa::kLanes;
    for (std::uint64_t column = 0; column < kGroupedOutputs; column += width) {
      GroupTiles<Isa, Source, Format>::of(height)(totals + column, codes + column, code_stride,
                                                  block.from + column * 2, block.group_bytes, x,
                                                  x_sums, block.groups, block.pairs);
    }
    totals += height * kGroupedOutputs;
    x += height * kRowStride<Isa>;
    x_sums += height * kMostGroups;
  }
}

// One way or the other: the same operations in the same order.
template <typename Isa, typename Expand, typename Format>
void multiply_any(std::uint64_t rows, const GroupedBlock& block, const typename Isa::Activation* x,
                  const float* x_sums, const GroupedScratch<Isa>& scratch) {
  if constexpr (DecodesDirectly<Expand>) {
    if (rows <= Expand::template most_direct_rows<Format::kBits>()) {
      for (std::uint64_t g = 0; g < block.groups; ++g)
        for (std::uint64_t at = 0; at < Format::kPlanes; at += kLineBytes)
          __builtin_prefetch(block.from + g * block.group_bytes + kGroupedAhead + at);
      return multiply_block<Isa, Decoded<Isa, Expand, Format>, Format>(
          rows, block, block.from + Format::kPlanes, block.group_bytes, x, x_sums, scratch.totals);
    }
  }
  expand_block<Expand, Format>(block, scratch.codes);
  multiply_block<Isa, Expanded<Isa>, Format>(
      rows, block, scratch.codes, block.pairs * kGroupedOutputs, x, x_sums, scratch.totals);
}

template <typename Isa, typename Expand, typename Format>
void run_grouped_panel(const GroupedTask& task, std::uint64_t panel,
                       const GroupedScratch<Isa>& scratch) {
  const GroupedShape& shape = task.shape;
  const std::byte* from = task.weights + panel * shape.panel_bytes();
  const typename Isa::Activation* x = scratch.x;
  const float* x_sums = scratch.x_sums;
  std::memset(scratch.totals, 0, task.rows * kGroupedOutputs * sizeof(float));
  for (std::uint64_t first = 0; first < shape.pairs(); first += kGroupedBlockPairs) {
    const std::uint64_t left = shape.pairs() - first;
    const std::uint64_t in_block = left < kGroupedBlockPairs ? left : kGroupedBlockPairs;
    // Only a group of a whole block can be cut short.
    const std::uint64_t pairs = in_block < shape.group_pairs ? in_block : shape.group_pairs;
    const GroupedBlock block{from, in_block / pairs, pairs, shape.group_bytes()};
    multiply_any<Isa, Expand, Format>(task.rows, block, x, x_sums, scratch);
    from += block.groups * block.group_bytes;
    x += task.rows * kRowStride<Isa>;
    x_sums += task.rows * kMostGroups;
  }
  store_grouped(task, panel, scratch.totals);
}

static inline void sum_x(const GroupedTask& task, float* sums) {
  const GroupedShape& shape = task.shape;
  const std::uint64_t group = 2 * shape.group_pairs;
  for (std::uint64_t first = 0; first < shape.k; first += 2 * kGroupedBlockPairs) {
    for (std::uint64_t row = 0; row < task.rows; ++row, sums += kMostGroups) {
      for (std::uint64_t g = 0; g < 2 * kGroupedBlockPairs / group; ++g) {
        const std::uint64_t from = first + g * group;
        if (from < shape.k) sum_of_x(task.x + row * shape.k + from, group, sums + g);
      }
    }
  }
}

template <typename Isa, typename Expand, typename Format>
void run_grouped_panels(const GroupedTask& task) {
  const GroupedScratch<Isa> scratch(task.scratch, task.shape, task.rows);
  arrange_x<Isa>(task.x, task.shape.k, task.rows, scratch.x);
  if constexpr (Format::kBiased) sum_x(task, scratch.x_sums);
  for (std::uint64_t panel = task.first_panel; panel < task.last_panel; ++panel)
    run_grouped_panel<Isa, Expand, Format>(task, panel, scratch);
}

template <typename Isa, typename Expand, unsigned Bits>
void run_grouped_bits(const GroupedTask& task) {
  using enum ScaleType;
  if (task.shape.biased)
    run_grouped_panels<Isa, Expand, GroupFormat<Bits, true, kBf16>>(task);
  else if (task.shape.scales == kBf16)
    run_grouped_panels<Isa, Expand, GroupFormat<Bits, false, kBf16>>(task);
  else
    run_grouped_panels<Isa, Expand, GroupFormat<Bits, false, kF16>>(task);
}

// `Control`: subnormals are flushed while one lives, of sums and of totals.
template <typename Isa, typename Expand, typename Control>
void run_grouped(const GroupedTask& task) {
  [[maybe_unused]] const Control control;
  if (task.shape.bits == 4)
    run_grouped_bits<Isa, Expand, 4>(task);
  else
    run_grouped_bits<Isa, Expand, 8>(task);
}

}  // namespace tare::kernels
