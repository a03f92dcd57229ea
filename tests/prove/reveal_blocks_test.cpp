// Sums of blocks that the test rounds to 8 bits itself, lane by lane, come out as they were added.
#include "prove/reveal_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tare::prove {
namespace {

using Elements = std::vector<float>;
constexpr std::uint64_t kBlock = 32, kBlocks = 9;

// x as such an implementation sees it: whole numbers and a scale for each block.
Elements rounded(const Elements& x) {
  Elements seen;
  for (std::uint64_t first = 0; first < x.size(); first += kBlock) {
    float most = 0;
    for (std::uint64_t i = first; i < first + kBlock; ++i) most = std::max(most, std::fabs(x[i]));
    const float scale = most / 127;
    for (std::uint64_t i = first; i < first + kBlock; ++i)
      seen.push_back(scale == 0 ? 0 : scale * std::round(x[i] / scale));
  }
  return seen;
}

// Whole sums of `run` neighbours, each run a lane; lanes are folded the upper half onto the lower.
float in_lanes(const Elements& x, std::uint64_t run) {
  std::vector<float> lanes(kBlock / run, 0.0F);
  for (std::uint64_t first = 0; first < x.size(); first += run) {
    float whole = 0;
    for (std::uint64_t i = first; i < first + run; ++i) whole += x[i];
    lanes[first % kBlock / run] += whole;
  }
  for (std::size_t half = lanes.size() / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  return lanes[0];
}

CountReached counting(std::uint64_t run) {
  return [run](std::uint64_t i, std::uint64_t j, std::span<const std::uint64_t> units) {
    constexpr float kUnit = 127 * 0x1p-20F, kHuge = 127 * 0x1p14F;
    Elements x(kBlocks * kBlock, 0.0F);
    for (const std::uint64_t unit : units) x[unit] = kUnit;
    x[i] = kHuge;
    x[j] = -kHuge;
    return static_cast<std::uint64_t>(in_lanes(rounded(x), run) / kUnit);
  };
}

TEST(RevealBlocks, OneSumOfBlocks) {
  const BlockOrder order = reveal_blocks(kBlocks, kBlock, counting(kBlock));
  ASSERT_EQ(order.lanes.size(), 1u);
  EXPECT_EQ(order.lanes[0].size(), kBlock);
  EXPECT_EQ(name_of(order.tree), "one sum of 9 products, in order");
}

TEST(RevealBlocks, LanesWithinBlocks) {
  const BlockOrder order = reveal_blocks(kBlocks, kBlock, counting(4));
  ASSERT_EQ(order.lanes.size(), 8u);
  EXPECT_EQ(order.lanes[1], (std::vector<std::uint64_t>{4, 5, 6, 7}));
  EXPECT_EQ(order.tree.leaves, kBlocks * 8);
  EXPECT_EQ(name_of(order.tree),
            "8 lanes, added by halves (those 4, 2, 1 apart); each: one sum of 9 products of every "
            "8th, in order");
}

// Why elements of one block are never huge and small at once: the small one is lost in rounding,
// not in adding.
TEST(RevealBlocks, AHugeElementRoundsItsBlockAway) {
  Elements x(kBlock, 0.0F);
  x[0] = 127 * 0x1p14F;
  x[1] = 127 * 0x1p-20F;
  EXPECT_EQ(rounded(x)[1], 0);
}

TEST(RevealBlocks, TwoBlocksAreTooFewToTellLanesApart) {
  const auto two = [](std::uint64_t i, std::uint64_t j, std::span<const std::uint64_t> units) {
    return counting(4)(i, j, units);
  };
  EXPECT_EQ(reveal_blocks(2, kBlock, two).lanes.size(), 1u);
}

}  // namespace
}  // namespace tare::prove
