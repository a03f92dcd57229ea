// The order of addition where activations are rounded to whole numbers, a scale for each block:
// what reveal.h does, around what such a block cannot hold. A huge element makes the scale of its
// block so large that every small one of that block becomes 0: so no element may be small whose
// block holds a huge one. Two huge ones may share a block, and so may small ones.
#pragma once

#include <cstdint>
#include <vector>

#include "prove/reveal.h"

namespace tare::prove {

struct BlockOrder {
  // Elements of a block, by place, whose sum of whole numbers goes into one f32 sum; every block
  // alike. In which order whole numbers are added does not matter: that is exact.
  std::vector<std::vector<std::uint64_t>> lanes;
  // Over the products, numbered block * lanes + lane.
  SumTree tree;
};

// `count` is asked of elements, from 0 to blocks * block - 1. What it does not tell: whether an
// implementation takes the elements of one lane and one block to f32 in several steps. With fewer
// than three blocks lanes are not told apart. Throws as reveal() does.
BlockOrder reveal_blocks(std::uint64_t blocks, std::uint64_t block, const CountReached& count);

}  // namespace tare::prove
