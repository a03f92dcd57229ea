#include "judge/blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tests/judge/synthetic.h"

namespace tare::judge {
namespace {

using weigh::Purpose;
using weigh::Role;

TEST(Blocks, ArrangesEveryArmByBlock) {
  const weigh::Weighing weighing = testing::weigh_synthetic({.blocks = 6});
  const Blocks blocks = arrange(weighing);
  ASSERT_EQ(blocks.count(), 6u);
  const ArmTimes& incumbent = blocks.arms.at(Role::kIncumbent);
  EXPECT_EQ(incumbent.long_dispatches, 240u);
  EXPECT_EQ(incumbent.round_dispatches, 12u);
  EXPECT_EQ(incumbent.slice_dispatches, 8u);
  EXPECT_TRUE(incumbent.two_lengths());
  EXPECT_FALSE(blocks.arms.at(Role::kStream).two_lengths());
  EXPECT_EQ(blocks.arms.at(Role::kControl).slice_dispatches, 0u);
  for (const auto& [role, times] : blocks.arms) {
    EXPECT_EQ(times.long_seconds.size(), 6u);
    EXPECT_EQ(times.round_seconds.size(), 6u);
    for (const auto& rounds : times.round_seconds)
      EXPECT_EQ(rounds.size(), weigh::is_limit(role) ? 2u : 5u);
  }
}

TEST(Blocks, WhatABlockDoesNotHoldIsNotANumber) {
  const Blocks blocks = arrange(testing::weigh_synthetic({.blocks = 8, .first_full_blocks = 1}));
  const ArmTimes& incumbent = blocks.arms.at(Role::kIncumbent);
  const ArmTimes& candidate = blocks.arms.at(Role::kCandidate);
  for (std::size_t block = 0; block < 8; ++block) {
    const bool bare = block % 4 != 0;
    for (const auto* seconds : {&incumbent.long_seconds, &incumbent.half_ring_seconds,
                                &incumbent.slice_one_seconds, &candidate.half_ring_seconds,
                                &candidate.slice_many_seconds, &candidate.slice_twice_seconds})
      EXPECT_EQ(std::isnan(seconds->at(block)), bare) << block;
  }
}

TEST(Blocks, LongRegionsAreThoseThatTheTrafficAskedFor) {
  const auto lengths = [](const Blocks& blocks, Role role) {
    std::multiset<std::uint64_t> found;
    for (const weigh::Region* region : blocks.long_regions.at(role))
      found.insert(region->dispatches);
    return found;
  };
  const auto weighing = testing::weigh_synthetic({.blocks = 6});
  const Blocks blocks = arrange(weighing);
  EXPECT_EQ(lengths(blocks, Role::kCandidate),
            (std::multiset<std::uint64_t>{240, 240, 240, 240, 240, 240}));
  const auto short_ones =
      testing::weigh_synthetic({.long_dispatches = 12, .round_dispatches = 12, .blocks = 1});
  EXPECT_EQ(lengths(arrange(short_ones), Role::kCandidate),
            (std::multiset<std::uint64_t>{12, 12, 12, 12, 12}));
}

TEST(Blocks, ABlockCutShortIsDroppedForAllArms) {
  weigh::Weighing weighing = testing::weigh_synthetic({.blocks = 6});
  while (weighing.regions.back().arm != Role::kCandidate ||
         weighing.regions.back().purpose != Purpose::kRound)
    weighing.regions.pop_back();
  weighing.regions.pop_back();
  const Blocks blocks = arrange(weighing);
  EXPECT_EQ(blocks.numbers, (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  for (const auto& [role, times] : blocks.arms) EXPECT_EQ(times.round_seconds.size(), 5u);
}

TEST(Blocks, AnImpossibleTimeDropsItsBlock) {
  const double bad[] = {0, -1e-3, std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity()};
  for (const double seconds : bad) {
    weigh::Weighing weighing = testing::weigh_synthetic({.blocks = 6});
    for (weigh::Region& region : weighing.regions)
      if (region.block == 2 && region.arm == Role::kControl) region.seconds = seconds;
    EXPECT_EQ(arrange(weighing).numbers, (std::vector<std::uint32_t>{0, 1, 3, 4, 5})) << seconds;
  }
}

TEST(Blocks, ABlockWithoutALimitRegionStillCompares) {
  weigh::Weighing weighing = testing::weigh_synthetic({.blocks = 6});
  std::erase_if(weighing.regions,
                [](const auto& r) { return r.arm == Role::kStream && r.block == 3; });
  const Blocks blocks = arrange(weighing);
  EXPECT_EQ(blocks.count(), 6u);
  EXPECT_TRUE(blocks.arms.at(Role::kStream).round_seconds[3].empty());
}

TEST(Blocks, ArmsThatNeverRanLeaveNoCompleteBlock) {
  weigh::Weighing weighing = testing::weigh_synthetic({.blocks = 6});
  std::erase_if(weighing.regions, [](const auto& r) { return r.arm == Role::kCandidate; });
  EXPECT_EQ(arrange(weighing).count(), 0u);
  EXPECT_EQ(arrange({}).count(), 0u);
}

TEST(Blocks, RegionsOfOneRoundAreAveragedRoundsAreNot) {
  weigh::Weighing weighing;
  const auto add = [&](std::uint32_t round, double seconds) {
    weigh::Region region;
    region.round = round;
    region.dispatches = 4;
    region.seconds = seconds;
    weighing.regions.push_back(region);
  };
  add(0, 1.0);
  add(1, 8.0);
  add(0, 3.0);
  const Blocks blocks = arrange(weighing);
  ASSERT_EQ(blocks.count(), 1u);
  EXPECT_EQ(blocks.arms.at(Role::kIncumbent).round_seconds[0], (std::vector<double>{2, 8}));
}

TEST(Blocks, TheMostFrequentLengthWins) {
  weigh::Weighing weighing = testing::weigh_synthetic({.blocks = 6});
  for (weigh::Region& region : weighing.regions)
    if (region.block == 1 && region.arm == Role::kControl && region.purpose == Purpose::kRound)
      region.dispatches = 11;
  const Blocks blocks = arrange(weighing);
  EXPECT_EQ(blocks.arms.at(Role::kControl).round_dispatches, 12u);
  EXPECT_EQ(blocks.numbers, (std::vector<std::uint32_t>{0, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace tare::judge
