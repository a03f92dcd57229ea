#include "judge/evidence.h"

#include <gtest/gtest.h>

#include "tests/judge/synthetic.h"

namespace tare::judge {
namespace {

using weigh::Role;

TEST(Evidence, HoldsFitsAndComparisons) {
  const weigh::Weighing weighing =
      testing::weigh_synthetic({.candidate_ratio = 1.5, .blocks = 20, .noise = testing::kQuiet});
  const Rules rules;
  const Evidence evidence = gather(weighing, rules);
  EXPECT_EQ(evidence.fits.size(), 5u);
  EXPECT_NEAR(evidence.candidate.ratio, 1.5, 1e-4);
  EXPECT_NEAR(evidence.control.ratio, 1, 1e-4);
}

TEST(Evidence, MediansAreOverLongRegionsOfTheArm) {
  weigh::Weighing weighing = testing::weigh_synthetic({.blocks = 5});
  for (weigh::Region& region : weighing.regions)
    if (region.arm == Role::kControl && region.purpose == weigh::Purpose::kLong)
      region.page_faults = region.block == 0 ? 1'000'000 : 7;
  const Rules rules;
  const Evidence evidence = gather(weighing, rules);
  const auto faults = [](const weigh::Region& r) { return static_cast<double>(r.page_faults); };
  EXPECT_EQ(median_over_regions(evidence, Role::kControl, faults), 7);
}

TEST(Evidence, AbsentArms) {
  const weigh::Weighing weighing = testing::weigh_synthetic({.control = false, .blocks = 5});
  const Rules rules;
  const Evidence evidence = gather(weighing, rules);
  EXPECT_EQ(arm_of(weighing, Role::kControl), nullptr);
  ASSERT_NE(arm_of(weighing, Role::kCandidate), nullptr);
  EXPECT_FALSE(
      median_over_regions(evidence, Role::kControl, [](const auto&) { return 1.0; }).has_value());
  EXPECT_EQ(evidence.control.ratio, 0);
}

TEST(Evidence, TheSeedIsThatOfThePlacement) {
  const testing::Plan plan{.blocks = 2, .seed = 7};
  weigh::Weighing weighing = testing::weigh_synthetic(plan);
  testing::weigh_again({.blocks = 2, .seed = 8}, weighing);
  const Rules rules;
  for (const std::uint32_t placement : {0u, 1u}) {
    const weigh::Weighing part = weigh::of_placement(weighing, placement);
    EXPECT_EQ(gather(part, rules).seed, 7 + placement);
  }
}

}  // namespace
}  // namespace tare::judge
