#include "weigh/screening.h"

#include "fixture.h"

namespace tare::weigh {
namespace {

using ScreeningTest = WeighTest;

TEST_F(ScreeningTest, GivesEveryArmAnImpression) {
  std::vector<Contestant> contestants{contestant("honest", Role::kIncumbent),
                                      contestant("honest", Role::kIncumbent)};
  const auto impressions = screen({}, {2, 0.0001, 10}, runner_, contestants);
  ASSERT_EQ(impressions.size(), 2u);
  for (const Impression& impression : impressions) {
    EXPECT_GT(impression.seconds_per_dispatch, 0);
    EXPECT_EQ(impression.given_up, "");
  }
}

TEST_F(ScreeningTest, GivesUpAnArmThatFailsAndKeepsTheOthers) {
  std::vector<Contestant> contestants{contestant("crash_in_enqueue", Role::kIncumbent),
                                      contestant("honest", Role::kIncumbent)};
  const auto impressions = screen({}, {2, 0.0001, 10}, runner_, contestants);
  EXPECT_EQ(impressions[0].seconds_per_dispatch, 0);
  EXPECT_NE(impressions[0].given_up, "");
  EXPECT_EQ(fastest(impressions), 1);
}

TEST_F(ScreeningTest, GivesUpAnArmThatIsTooSlow) {
  std::vector<Contestant> contestants{contestant("honest", Role::kIncumbent)};
  const auto impressions = screen({}, {2, 0.0001, 0}, runner_, contestants);
  EXPECT_GT(impressions[0].seconds_per_dispatch, 0);
  EXPECT_NE(impressions[0].given_up, "");
}

TEST(Fastest, IsTheLeastTimeThatRan) {
  EXPECT_EQ(fastest({{0, "failed"}, {3, ""}, {2, ""}, {4, ""}}), 2);
  EXPECT_EQ(fastest({{0, "failed"}}), -1);
  EXPECT_EQ(fastest({}), -1);
}

}  // namespace
}  // namespace tare::weigh
