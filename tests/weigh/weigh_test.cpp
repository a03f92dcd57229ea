#include "weigh/weigh.h"

#include <map>
#include <set>

#include "fixture.h"

namespace tare::weigh {
namespace {

class BlocksTest : public WeighTest {
 protected:
  // Three honest arms over `blocks` blocks.
  Weighing weigh_honest(std::uint32_t blocks, std::uint64_t seed) {
    std::vector<Contestant> contestants{contestant("honest", Role::kIncumbent),
                                        contestant("honest", Role::kControl),
                                        contestant("honest", Role::kCandidate)};
    return run(contestants, blocks, seed);
  }

  Weighing run(std::vector<Contestant>& contestants, std::uint32_t blocks, std::uint64_t seed) {
    WeighPlan plan;
    plan.traffic = 16 * weight_bytes(kSmall);
    plan.fewest_blocks = 1;
    plan.budget = std::chrono::hours(1);
    plan.seed = seed;
    Weighing weighing;
    weighing.problem = kSmall;
    weigh(plan, runner_, contestants, weighing,
          [&](const Weighing& so_far) { return so_far.regions.back().block + 1 >= blocks; });
    return weighing;
  }
};

TEST_F(BlocksTest, EveryRoundHoldsOneRegionOfEveryArm) {
  const Weighing weighing = weigh_honest(4, 1);
  EXPECT_FALSE(weighing.failure);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::multiset<Role>> rounds;
  for (const Region& region : weighing.regions)
    if (region.purpose == Purpose::kRound) rounds[{region.block, region.round}].insert(region.arm);
  ASSERT_EQ(rounds.size(), 4u * 5u);
  const std::multiset<Role> each{Role::kIncumbent, Role::kControl, Role::kCandidate};
  for (const auto& [place, arms] : rounds) EXPECT_EQ(arms, each);
}

TEST_F(BlocksTest, TheOrderFollowsTheSeed) {
  const auto order = [](const Weighing& weighing) {
    std::vector<std::pair<Role, std::uint64_t>> turns;
    for (const Region& region : weighing.regions) turns.emplace_back(region.arm, region.dispatches);
    return turns;
  };
  const auto first = order(weigh_honest(6, 1));
  EXPECT_EQ(first, order(weigh_honest(6, 1)));
  EXPECT_NE(first, order(weigh_honest(6, 2)));
}

TEST_F(BlocksTest, RegionsAreTimedByBothClocks) {
  for (const Region& region : weigh_honest(2, 1).regions) {
    EXPECT_GT(region.seconds, 0);
    EXPECT_GT(region.outer_seconds, region.seconds);
  }
}

TEST_F(BlocksTest, OutputsOfTimedRegionsAreChecked) {
  const auto digests = honest_digests();
  std::vector<Contestant> contestants{contestant("honest", Role::kIncumbent),
                                      contestant("wrong_later", Role::kCandidate)};
  for (Contestant& each : contestants) each.digests = digests;
  const Weighing weighing = run(contestants, 20, 1);
  bool wrong = false;
  for (const Region& region : weighing.regions) {
    if (region.arm == Role::kIncumbent)
      EXPECT_EQ(region.outputs, Outputs::kRight);
    else
      wrong = wrong || region.outputs == Outputs::kWrong;
  }
  EXPECT_TRUE(wrong) << "wrong after 200 dispatches, and 20 blocks have more";
}

TEST_F(BlocksTest, AFailureKeepsTheSamplesBeforeIt) {
  std::vector<Contestant> contestants{contestant("honest", Role::kIncumbent),
                                      contestant("crash_in_enqueue", Role::kCandidate)};
  const Weighing weighing = run(contestants, 5, 1);
  ASSERT_TRUE(weighing.failure);
  EXPECT_NE(weighing.failure->find("enqueue"), std::string::npos);
}

}  // namespace
}  // namespace tare::weigh
