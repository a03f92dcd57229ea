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

  // The same with slices, and long regions that come round the ring.
  Weighing weigh_fully(WeighPlan plan, std::uint32_t blocks) {
    std::vector<Contestant> contestants{
        with_slices("honest", Role::kIncumbent), contestant("honest", Role::kControl),
        with_slices("honest", Role::kCandidate), contestant("honest", Role::kStream)};
    plan.traffic = kLong * weight_bytes(kSmall);
    plan.most_region_seconds = 10;
    plan.cold_round_seconds = plan.hot_round_seconds = 1e-9;  // as short as a region's cost allows
    return run(plan, contestants, blocks);
  }

  Weighing run(std::vector<Contestant>& contestants, std::uint32_t blocks, std::uint64_t seed) {
    WeighPlan plan;
    plan.traffic = 16 * weight_bytes(kSmall);
    plan.seed = seed;
    return run(plan, contestants, blocks);
  }

  Weighing run(WeighPlan plan, std::vector<Contestant>& contestants, std::uint32_t blocks) {
    plan.fewest_blocks = 1;
    plan.budget = std::chrono::hours(1);
    Weighing weighing;
    weighing.problem = kSmall;
    weigh(plan, runner_, contestants, weighing,
          [&](const Weighing& so_far) { return so_far.regions.back().block + 1 >= blocks; });
    return weighing;
  }

  static constexpr std::uint64_t kLong = 2000;

  using Kinds = std::map<std::pair<Role, Purpose>, int>;
  static std::map<std::uint32_t, Kinds> kinds_by_block(const Weighing& weighing) {
    std::map<std::uint32_t, Kinds> blocks;
    for (const Region& region : weighing.regions)
      ++blocks[region.block][{region.arm, region.purpose}];
    return blocks;
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

TEST_F(BlocksTest, EachKindOfRegionHasItsBlocks) {
  Kinds rounds;
  for (const Role role : {Role::kIncumbent, Role::kControl, Role::kCandidate})
    rounds[{role, Purpose::kRound}] = 5;
  rounds[{Role::kStream, Purpose::kRound}] = 1;
  Kinds all = rounds;
  all[{Role::kStream, Purpose::kRound}] = 2;
  for (const Role role : {Role::kIncumbent, Role::kControl, Role::kCandidate})
    all[{role, Purpose::kLong}] = 1;
  // What is read more often is warmer: as many of each, or they are not alike.
  for (const Role role : {Role::kIncumbent, Role::kControl, Role::kCandidate})
    all[{role, Purpose::kHalfRing}] = 2;
  for (const Role role : {Role::kIncumbent, Role::kCandidate}) {
    all[{role, Purpose::kSliceOne}] = 4;
    all[{role, Purpose::kSliceMany}] = 1;
    all[{role, Purpose::kSliceTwice}] = 1;
  }
  Kinds no_long = all;
  std::erase_if(no_long, [](const auto& kind) { return kind.first.second == Purpose::kLong; });
  Kinds with_slices = no_long;
  std::erase_if(with_slices,
                [](const auto& kind) { return kind.first.second == Purpose::kHalfRing; });
  with_slices[{Role::kStream, Purpose::kRound}] = 1;
  const auto blocks = kinds_by_block(weigh_fully({}, 18));
  ASSERT_EQ(blocks.size(), 18u);
  for (const auto& [number, kinds] : blocks)
    EXPECT_EQ(kinds, number < 4 || number == 16 ? all
                     : number < 8               ? no_long
                     : number % 2 == 0          ? with_slices
                                                : rounds)
        << "block " << number;
}

TEST_F(BlocksTest, WithoutSlicesEightLongRegionsTellWhatARegionCosts) {
  std::vector<Contestant> contestants{contestant("honest", Role::kIncumbent),
                                      contestant("honest", Role::kCandidate)};
  WeighPlan plan;
  plan.traffic = kLong * weight_bytes(kSmall);
  plan.cold_round_seconds = 1e-9;
  const auto blocks = kinds_by_block(run(plan, contestants, 9));
  ASSERT_EQ(blocks.size(), 9u);
  for (const auto& [number, kinds] : blocks)
    EXPECT_EQ(kinds.contains({Role::kIncumbent, Purpose::kLong}), number < 8) << number;
}

TEST_F(BlocksTest, LengthsAreThoseOfTheirPurpose) {
  const Weighing weighing = weigh_fully({}, 1);
  for (const Region& region : weighing.regions) {
    if (is_limit(region.arm)) continue;
    const bool as_rounds =
        region.purpose == Purpose::kRound || region.purpose == Purpose::kHalfRing;
    const bool several =
        region.purpose == Purpose::kSliceMany || region.purpose == Purpose::kSliceTwice;
    // A round is as long as what a region costs asks for, and shorter than a long one.
    if (as_rounds)
      EXPECT_LT(region.dispatches, kLong);
    else
      EXPECT_EQ(region.dispatches, region.purpose == Purpose::kLong ? kLong : several ? 8 : 1);
  }
}

TEST_F(BlocksTest, OrdersAreUniqueAndRoundsStayTogether) {
  const Weighing weighing = weigh_fully({}, 9);
  std::map<std::uint32_t, std::vector<std::uint32_t>> orders;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> rounds;
  for (const Region& region : weighing.regions) {
    orders[region.block].push_back(region.order);
    if (region.purpose == Purpose::kRound && !is_limit(region.arm))
      rounds[{region.block, region.round}].insert(region.order);
  }
  for (const auto& [number, each] : orders)
    for (std::uint32_t i = 0; i < each.size(); ++i) EXPECT_EQ(each[i], i) << "block " << number;
  for (const auto& [place, each] : rounds) {
    ASSERT_EQ(each.size(), 3u);
    EXPECT_EQ(*each.rbegin() - *each.begin(), 2u) << "nothing runs amid a round";
  }
}

TEST_F(BlocksTest, HalfRingRegionsTurnInTheFirstHalfAndLeaveTheWholeRingsPlace) {
  Contestant contestant = this->contestant("honest", Role::kIncumbent);
  contestant.cursor = kSlots - 1;
  for (std::uint64_t turned = 2; turned < 3 * kSlots; turned += 2) {
    runner_.run(contestant, {.dispatches = 2, .purpose = Purpose::kHalfRing});
    EXPECT_EQ(contestant.half_cursor, turned % (kSlots / 2));
  }
  EXPECT_EQ(contestant.cursor, kSlots - 1);
}

TEST_F(BlocksTest, AHotRegionStaysOnOneSlotAndTheNextTakesTheNext) {
  Contestant contestant = this->contestant("honest", Role::kIncumbent);
  contestant.digests = honest_digests();
  const RegionPlan plan{.dispatches = 3, .residency = Residency::kHot};
  for (std::uint64_t region = 0; region < 2 * kSlots; ++region) {
    EXPECT_EQ(contestant.cursor % kSlots, region % kSlots);
    // Outputs are checked against what was proved for the slot.
    EXPECT_EQ(runner_.run(contestant, plan).outputs, Outputs::kRight);
  }
}

TEST_F(BlocksTest, HotWeightsHaveNoHalfRing) {
  WeighPlan plan;
  plan.residency = Residency::kHot;
  const Weighing weighing = weigh_fully(plan, 1);
  EXPECT_FALSE(weighing.failure);
  for (const Region& region : weighing.regions) EXPECT_NE(region.purpose, Purpose::kHalfRing);
}

// As where an arm compiles for minutes in its first region: the row would hold nothing, and no word
// why.
TEST_F(BlocksTest, ABudgetSpentOnEstimatingLeavesOneBlock) {
  std::vector<Contestant> contestants{contestant("honest", Role::kIncumbent)};
  WeighPlan plan;
  plan.traffic = 5 * weight_bytes(kSmall);
  plan.budget = std::chrono::nanoseconds(1);
  Weighing weighing;
  weighing.problem = kSmall;
  weigh(plan, runner_, contestants, weighing, [](const Weighing&) { return false; });
  ASSERT_FALSE(weighing.regions.empty());
  EXPECT_EQ(weighing.regions.back().block, 0u);
}

TEST_F(BlocksTest, EveryWeighingAddsAPlacement) {
  std::vector<Contestant> contestants{contestant("honest", Role::kIncumbent)};
  WeighPlan plan;
  plan.fewest_blocks = 1;
  plan.traffic = 5 * weight_bytes(kSmall);
  Weighing weighing;
  weighing.problem = kSmall;
  for (const std::uint64_t seed : {5u, 6u}) {
    plan.seed = seed;
    plan.fresh_processes = seed == 6;
    weigh(plan, runner_, contestants, weighing, [](const Weighing&) { return true; });
  }
  ASSERT_EQ(weighing.placements.size(), 2u);
  EXPECT_EQ(weighing.placements[0].seed, 5u);
  EXPECT_EQ(weighing.placements[0].traffic, plan.traffic);
  EXPECT_FALSE(weighing.placements[0].fresh_processes);
  EXPECT_TRUE(weighing.placements[1].fresh_processes);
  for (const std::uint32_t placement : {0u, 1u}) {
    const Weighing part = of_placement(weighing, placement);
    EXPECT_EQ(part.regions.size(), weighing.regions.size() / 2);
    for (const Region& region : part.regions) EXPECT_EQ(region.placement, placement);
  }
}

// Destroying is in the region where the naive user's every call is, and nowhere else.
TEST_F(BlocksTest, PerCallRegionsPrepareAndDestroy) {
  WeighPlan plan;
  plan.traffic = 2 * weight_bytes(kSmall);
  for (const Mode mode : {Mode::kPrepared, Mode::kPerCall}) {
    plan.mode = mode;
    std::vector<Contestant> contestants{contestant("crash_in_destroy", Role::kIncumbent, true)};
    const Weighing weighing = run(plan, contestants, 1);
    ASSERT_EQ(weighing.failure.has_value(), mode == Mode::kPerCall);
    EXPECT_TRUE(!weighing.failure || weighing.failure->find("destroy") != std::string::npos);
  }
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
  const std::size_t block = first.size() / 6;
  const auto turns_of = [&](std::size_t number) {
    const auto start = first.begin() + static_cast<std::ptrdiff_t>(number * block);
    return std::vector(start, start + static_cast<std::ptrdiff_t>(block));
  };
  EXPECT_NE(turns_of(0), turns_of(1));
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
