#include "judge/blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/judge/synthetic.h"

namespace tare::judge {
namespace {

using testing::Plan;
using weigh::Role;

TEST(Blocks, ArrangesEveryArmByBlock) {
  const weigh::Weighing weighing = testing::weigh_synthetic({.blocks = 6});
  const Blocks blocks = arrange(weighing);
  ASSERT_EQ(blocks.count(), 6u);
  const ArmTimes& incumbent = blocks.arms.at(Role::kIncumbent);
  EXPECT_EQ(incumbent.long_dispatches, 240u);
  EXPECT_EQ(incumbent.short_dispatches, 30u);
  EXPECT_TRUE(incumbent.two_lengths());
  EXPECT_EQ(incumbent.long_seconds.size(), 6u);
  EXPECT_FALSE(std::isnan(incumbent.half_ring_seconds[0]));
  EXPECT_TRUE(std::isnan(incumbent.half_ring_seconds[1]));
  EXPECT_FALSE(blocks.arms.at(Role::kStream).two_lengths());
  EXPECT_EQ(blocks.long_regions.at(Role::kCandidate).size(), 6u);
}

TEST(Blocks, ABlockCutShortIsDroppedForAllArms) {
  weigh::Weighing weighing = testing::weigh_synthetic({.blocks = 6});
  weighing.regions.resize(weighing.regions.size() - 1);
  while (weighing.regions.back().arm != Role::kCandidate) weighing.regions.pop_back();
  weighing.regions.pop_back();
  const Blocks blocks = arrange(weighing);
  EXPECT_EQ(blocks.numbers, (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  for (const auto& [role, times] : blocks.arms) EXPECT_EQ(times.long_seconds.size(), 5u);
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
  EXPECT_TRUE(std::isnan(blocks.arms.at(Role::kStream).long_seconds[3]));
}

TEST(Blocks, ArmsThatNeverRanLeaveNoCompleteBlock) {
  weigh::Weighing weighing = testing::weigh_synthetic({.blocks = 6});
  std::erase_if(weighing.regions, [](const auto& r) { return r.arm == Role::kCandidate; });
  EXPECT_EQ(arrange(weighing).count(), 0u);
  EXPECT_EQ(arrange({}).count(), 0u);
}

TEST(Blocks, RegionsOfOneLengthInABlockAreAveraged) {
  weigh::Weighing weighing;
  for (const double seconds : {1.0, 3.0}) {
    weigh::Region region;
    region.dispatches = 4;
    region.seconds = seconds;
    weighing.regions.push_back(region);
  }
  const Blocks blocks = arrange(weighing);
  ASSERT_EQ(blocks.count(), 1u);
  EXPECT_EQ(blocks.arms.at(Role::kIncumbent).long_seconds[0], 2.0);
}

}  // namespace
}  // namespace tare::judge
