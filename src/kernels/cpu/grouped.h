// The grouped kernel, once for every instruction set: quantised weights, whose codes are small
// integers with a scale (and a bias) a group. Codes become bf16, which holds 8-bit integers
// exactly, and are multiplied as the panel kernel does it: products of code and x are exact. Where
// an instruction set decodes in registers it does so in every tile; else, or where decoding is dear
// and rows are many, a block is expanded in the first-level cache first. Included only by the files
// that instantiate it with an Isa of internal linkage (see panel.h).
//
// An Isa says what panel.h asks for, and
//   Pairs, pairs(pointer), part(pairs, step)   weights of a vector of pairs, and of one step of it
//   kWideRows       up to so many rows a tile is as wide as a panel
//   kRegisters      vectors at hand
//   of plain f32 vectors: fused(sum, a, b), product(a, b), minus(a, b), spread(pointer),
//   widened<ScaleType>(pointer) of bf16 or f16, bytes<is unsigned>(pointer)
//   where an Expand decodes: multiply_add_here, a multiply_add that stays between what decodes
//                   before and after it
// An Expand says how codes become Bf16Pair:
//   expand<bits>(unit, pairs)                  a unit (code_words.h) of 64 outputs, as packed
//   decode<bits, first>(unit, pair, vectors)   a pair of it in vectors of 16 outputs, from column
//                                              `first` on, where it can: most_direct_rows<bits>()
//
// One output is  sum over groups, ascending:  fma(scale, sum of its pairs, total), then where there
// are biases fma(bias, sum of x, total). Subnormals count, of x (small_x.h), scales and totals.
// Nothing in it depends on rows, tiles, threads or the instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/control_word.h"
#include "kernels/cpu/grouped_task.h"
#include "kernels/cpu/grouped_tile.h"
#include "kernels/cpu/panel.h"
#include "kernels/cpu/small_x.h"
#include "kernels/cpu/store_grouped.h"
#include "kernels/cpu/sum_of_x.h"

namespace tare::kernels {

// What lies in a thread's scratch: one expanded block, the totals of a panel, x as tiles read it,
// x's sums [block][row][kMostGroups], what the rows' outputs are multiplied by, and x without small
// values.
template <typename Isa>
struct GroupedScratch {
  using Activation = typename Isa::Activation;

  static std::uint64_t blocks_of(const GroupedShape& shape) {
    return (shape.pairs() + kGroupedBlockPairs - 1) / kGroupedBlockPairs;
  }
  static std::uint64_t x_of(const GroupedShape& shape, std::uint64_t rows) {
    return blocks_of(shape) * rows * kRowStride<Isa>;
  }
  static std::uint64_t sums_of(const GroupedShape& shape, std::uint64_t rows) {
    return blocks_of(shape) * rows * kMostGroups;
  }
  static std::uint64_t bytes(const GroupedShape& shape, std::uint64_t rows) {
    return kGroupedBlockPairs * kGroupedOutputs * sizeof(Bf16Pair) +
           rows * kGroupedOutputs * sizeof(float) + x_of(shape, rows) * sizeof(Activation) +
           sums_of(shape, rows) * sizeof(float) + rows * sizeof(float) +
           rows * shape.k * sizeof(Bf16);
  }

  GroupedScratch(void* memory, const GroupedShape& shape, std::uint64_t rows)
      : codes(static_cast<Bf16Pair*>(memory)),
        totals(reinterpret_cast<float*>(codes + kGroupedBlockPairs * kGroupedOutputs)),
        x(reinterpret_cast<Activation*>(totals + rows * kGroupedOutputs)),
        x_sums(reinterpret_cast<float*>(x + x_of(shape, rows))),
        lower(x_sums + sums_of(shape, rows)),
        copy(reinterpret_cast<Bf16*>(lower + rows)) {}

  Bf16Pair* codes;
  float* totals;
  Activation* x;
  float* x_sums;
  float* lower;
  Bf16* copy;
};

inline constexpr std::uint64_t kHeaderPairs = 128;  // that share a header

// The part of a panel that lies between two borders of 64 pairs.
struct GroupedBlock {
  const std::byte* header;  // of two-level scales
  const std::byte* from;    // its first group
  std::uint64_t groups;
  std::uint64_t pairs;  // of each group
  std::uint64_t group_bytes;
};

inline constexpr std::uint64_t kAnyRows = ~std::uint64_t{0};

// Whether an instruction set decodes codes of so many bits in registers, at so many rows.
template <typename Expand, unsigned Bits>
constexpr bool decodes_directly(std::uint64_t rows) {
  if constexpr (requires { Expand::template most_direct_rows<Bits>(); })
    return rows <= Expand::template most_direct_rows<Bits>();
  return false;
}

template <typename Expand, typename Format>
void expand_block(const GroupedBlock& block, std::uint64_t ahead, Bf16Pair* codes) {
  constexpr std::size_t kPairs = kUnitPairs<Format::kBits>;
  for (std::uint64_t g = 0; g < block.groups; ++g) {
    const std::byte* unit = block.from + g * block.group_bytes;
    for (std::uint64_t at = 0; at < block.group_bytes; at += kLineBytes)
      __builtin_prefetch(unit + ahead + at);
    unit += Format::kPlanes;
    for (std::uint64_t pair = 0; pair < block.pairs; pair += kPairs) {
      Expand::template expand<Format::kBits>(unit, codes);
      unit += kUnitBytes<Format::kBits>;
      codes += kPairs * kGroupedOutputs;
    }
  }
}

// A block's products to be added to the totals of a panel.
template <typename Isa>
struct BlockProducts {
  GroupedBlock block;
  const typename Isa::Activation* x;
  const float* x_sums;
  float* totals;
  std::uint64_t ahead;  // bytes ahead of the codes that memory is asked for
};

template <typename Isa, typename Source, typename Format>
void run_tile(const BlockProducts<Isa>& tile, std::uint64_t height, std::uint64_t first,
              const typename Source::Code* codes, std::uint64_t code_stride) {
  const GroupedBlock& block = tile.block;
  GroupTiles<Isa, Source, Format>::of(height)(tile.totals + first, codes, code_stride,
                                              block.from + first * Format::kScaleBytes,
                                              block.header + 2 * first, block.group_bytes, tile.x,
                                              tile.x_sums, block.groups, block.pairs, tile.ahead);
}

// Tiles of nearly equal height, as the panel kernel's, one under the other: `run(tile, height)`.
template <typename Isa, typename Run>
void for_each_tile(std::uint64_t rows, BlockProducts<Isa> tile, Run&& run) {
  const std::uint64_t tiles = (rows + Isa::kMostRows - 1) / Isa::kMostRows;
  for (std::uint64_t i = 0; i < tiles; ++i) {
    const std::uint64_t height = rows / tiles + (i < rows % tiles ? 1 : 0);
    run(tile, height);
    tile.totals += height * kGroupedOutputs;
    tile.x += height * kRowStride<Isa>;
    tile.x_sums += height * kMostGroups;
  }
}

// Codes decoded in every tile. Tall tiles take a panel in two halves.
template <typename Isa, typename Expand, typename Format>
void multiply_decoded(std::uint64_t rows, const BlockProducts<Isa>& products) {
  const GroupedBlock& block = products.block;
  const std::byte* codes = block.from + Format::kPlanes;
  for (std::uint64_t g = 0; g < block.groups; ++g)
    for (std::uint64_t at = 0; at < Format::kPlanes; at += kLineBytes)
      __builtin_prefetch(block.from + g * block.group_bytes + products.ahead + at);
  for_each_tile(rows, products, [&](const BlockProducts<Isa>& tile, std::uint64_t height) {
    run_tile<Isa, Decoded<Isa, Expand, Format, 0>, Format>(tile, height, 0, codes,
                                                           block.group_bytes);
    if (height <= Isa::kWideRows) return;
    run_tile<Isa, Decoded<Isa, Expand, Format, 2>, Format>(tile, height, kGroupedOutputs / 2, codes,
                                                           block.group_bytes);
  });
}

// Codes expanded in the first-level cache once.
template <typename Isa, typename Expand, typename Format>
void multiply_expanded(std::uint64_t rows, const BlockProducts<Isa>& products, Bf16Pair* codes) {
  expand_block<Expand, Format>(products.block, products.ahead, codes);
  for_each_tile(rows, products, [&](const BlockProducts<Isa>& tile, std::uint64_t height) {
    const std::uint64_t width = Isa::columns(height) * Isa::kLanes;
    for (std::uint64_t first = 0; first < kGroupedOutputs; first += width)
      run_tile<Isa, Expanded<Isa>, Format>(tile, height, first, codes + first,
                                           tile.block.pairs * kGroupedOutputs);
  });
}

// One way or the other: the same operations in the same order.
template <typename Isa, typename Expand, typename Format>
void multiply_block(std::uint64_t rows, const BlockProducts<Isa>& products, Bf16Pair* codes) {
  constexpr unsigned kBits = Format::kBits;
  if constexpr (decodes_directly<Expand, kBits>(1)) {
    if (decodes_directly<Expand, kBits>(rows))
      return multiply_decoded<Isa, Expand, Format>(rows, products);
  }
  if constexpr (!decodes_directly<Expand, kBits>(kAnyRows))
    multiply_expanded<Isa, Expand, Format>(rows, products, codes);
}

template <typename Isa, typename Expand, typename Format>
void run_grouped_panel(const GroupedTask& task, std::uint64_t panel,
                       const GroupedScratch<Isa>& scratch) {
  const GroupedShape& shape = task.shape;
  BlockProducts<Isa> products{
      {}, scratch.x, scratch.x_sums, scratch.totals, grouped_ahead(task.rows)};
  GroupedBlock& block = products.block;
  block.group_bytes = shape.group_bytes();
  const std::byte* from = task.weights + panel * shape.panel_bytes();
  std::memset(scratch.totals, 0, task.rows * kGroupedOutputs * sizeof(float));
  for (std::uint64_t first = 0; first < shape.pairs(); first += kGroupedBlockPairs) {
    if (first % kHeaderPairs == 0) {
      block.header = from;
      from += shape.header_bytes();
    }
    const std::uint64_t left = shape.pairs() - first;
    const std::uint64_t in_block = left < kGroupedBlockPairs ? left : kGroupedBlockPairs;
    // Only a group of a whole block can be cut short.
    block.pairs = in_block < shape.group_pairs ? in_block : shape.group_pairs;
    block.groups = in_block / block.pairs;
    block.from = from;
    multiply_block<Isa, Expand, Format>(task.rows, products, scratch.codes);
    from += block.groups * block.group_bytes;
    products.x += task.rows * kRowStride<Isa>;
    products.x_sums += task.rows * kMostGroups;
  }
  store_grouped(task, panel, scratch.totals, scratch.lower);
}

// [block][row][kMostGroups]. Row after row: in the order of the sums, rows a power of two apart
// share sets of the first-level cache.
static inline void sum_x(const GroupedTask& task, const Bf16* x, float* sums) {
  const std::uint64_t group = 2 * task.shape.group_pairs;
  const std::uint64_t count = task.shape.k / group, in_block = 2 * kGroupedBlockPairs / group;
  for (std::uint64_t row = 0; row < task.rows; ++row, x += task.shape.k) {
    float* block = sums + row * kMostGroups;
    std::uint64_t in = 0;
    for (std::uint64_t g = 0; g < count; g += kSumsAtOnce) {
      const auto at = [&](std::uint64_t i) { return x + (g + i < count ? g + i : g) * group; };
      float some[kSumsAtOnce];
      sums_of_x({at(0), at(1), at(2), at(3)}, group, some);
      for (std::uint64_t i = 0; i < kSumsAtOnce && g + i < count; ++i) {
        block[in] = some[i];
        if (++in < in_block) continue;
        in = 0;
        block += task.rows * kMostGroups;
      }
    }
  }
}

template <typename Isa, typename Expand, typename Format>
void run_grouped_panels(const GroupedTask& task) {
  const GroupedScratch<Isa> scratch(task.scratch, task.shape, task.rows);
  const Bf16* x = without_small(task.x, task.shape.k, task.rows, scratch.copy, scratch.lower);
  arrange_x<Isa>(x, task.shape.k, task.rows, scratch.x);
  if constexpr (Format::kBiased) sum_x(task, x, scratch.x_sums);
  for (std::uint64_t panel = task.first_panel; panel < task.last_panel; ++panel)
    run_grouped_panel<Isa, Expand, Format>(task, panel, scratch);
}

template <typename Isa, typename Expand>
void run_grouped(const GroupedTask& task) {
  [[maybe_unused]] const KeepSubnormals control;
  using enum ScaleType;
  const auto run = [&]<typename Format>(Format) { run_grouped_panels<Isa, Expand, Format>(task); };
  const bool biased = task.shape.biased;
  const ScaleType scales = task.shape.scales;
  switch (task.shape.bits) {
    case 8:
      if (biased && scales == kBf16) return run(GroupFormat<8, true, kBf16>{});
      if (biased) return run(GroupFormat<8, true, kF16>{});
      if (scales == kBf16) return run(GroupFormat<8, false, kBf16>{});
      return run(GroupFormat<8, false, kF16>{});
    case 6:
      return run(GroupFormat<6, false, kTwoLevel>{});
    case 5:
      return run(GroupFormat<5, false, kF16>{});
    default:
      if (scales == kTwoLevel) return run(GroupFormat<4, true, kTwoLevel>{});
      if (task.shape.zeros && scales == kBf16) return run(GroupFormat<4, true, kBf16, true>{});
      if (task.shape.zeros) return run(GroupFormat<4, true, kF16, true>{});
      if (biased && scales == kBf16) return run(GroupFormat<4, true, kBf16>{});
      if (biased) return run(GroupFormat<4, true, kF16>{});
      if (scales == kBf16) return run(GroupFormat<4, false, kBf16>{});
      return run(GroupFormat<4, false, kF16>{});
  }
}

}  // namespace tare::kernels
