#include "judge/pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "judge/fit.h"
#include "tests/judge/synthetic.h"

namespace tare::judge {
namespace {

using testing::Plan;
using weigh::Role;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kDispatches = 8;
constexpr double kCost = 2e-3;  // of a region of either arm, in the fits below

// Blocks of one round: of an incumbent that takes 8 ms and of a candidate with the given times.
Blocks two_arms(const std::vector<double>& candidate) {
  Blocks blocks;
  const auto arm = [](const std::vector<double>& seconds) {
    ArmTimes times;
    times.round_dispatches = kDispatches;
    for (const double each : seconds) times.round_seconds.push_back({each});
    return times;
  };
  for (std::uint32_t i = 0; i < candidate.size(); ++i) blocks.numbers.push_back(i);
  blocks.arms[Role::kIncumbent] = arm(std::vector<double>(candidate.size(), 8e-3));
  blocks.arms[Role::kCandidate] = arm(candidate);
  return blocks;
}

std::map<Role, Fit> costs(double incumbent = kCost, double candidate = kCost) {
  std::map<Role, Fit> fits;
  for (const auto& [role, cost] :
       {std::pair{Role::kIncumbent, incumbent}, {Role::kCandidate, candidate}}) {
    fits[role].identifiable = true;
    fits[role].per_region = cost;
    fits[role].per_region_interval = {cost - 1e-4, cost + 1e-4};
  }
  return fits;
}

Comparison compare_arms(const weigh::Weighing& weighing, const Rules& rules = {}) {
  const Blocks blocks = arrange(weighing);
  std::map<Role, Fit> fits;
  for (const auto& [role, times] : blocks.arms)
    fits[role] = fit(times, weigh::weight_bytes(weighing.problem));
  return compare(rounds_of(blocks, Role::kCandidate, weighing.placements[0].seed),
                 correction(blocks, fits, Role::kIncumbent, Role::kCandidate), rules);
}

TEST(Pairs, CompareDispatchesNotOverheads) {
  const Plan plan{.incumbent = {100e-6, 5e-3},
                  .candidate_ratio = 1.25,
                  .candidate_per_region = 0,
                  .blocks = 12,
                  .noise = testing::kQuiet};
  const Comparison result = compare_arms(testing::weigh_synthetic(plan));
  EXPECT_NEAR(result.ratio, 1.25, 1e-3);
  EXPECT_LE(result.interval.low, 1.25 + 1e-5);  // the clock steps by 10 ns, the round takes 1 ms
  EXPECT_GE(result.interval.high, 1.25 - 1e-5);
  EXPECT_LT(result.interval.high - result.interval.low, 2e-3);
}

TEST(Pairs, NegativeTimesKeepTheirSign) {
  const Blocks blocks = two_arms({8e-3, 1e-3});
  const auto ratios = log_ratios(blocks, costs(), Role::kIncumbent, Role::kCandidate, 1);
  ASSERT_EQ(ratios.size(), 2u);
  EXPECT_NEAR(ratios[0], 0, 1e-5);
  EXPECT_EQ(ratios[1], kInfinity);
  EXPECT_EQ(log_ratios(blocks, costs(), Role::kCandidate, Role::kIncumbent, 1)[1], -kInfinity);
}

TEST(Pairs, TwoNegativeTimesSayNothing) {
  EXPECT_TRUE(
      log_ratios(two_arms({1e-3}), costs(9e-3), Role::kIncumbent, Role::kCandidate, 1).empty());
}

TEST(Pairs, AMissingArmGivesNoRatios) {
  EXPECT_TRUE(log_ratios(Blocks{}, {}, Role::kIncumbent, Role::kControl, 1).empty());
  EXPECT_EQ(rounds_of(Blocks{}, Role::kCandidate, 1).rounds(), 0u);
  EXPECT_EQ(rounds_of(two_arms({8e-3}), Role::kControl, 1).rounds(), 0u);
}

TEST(Pairs, TiesBecomeFairCoinsOfHalfATimerStep) {
  const auto ratios = log_ratios(two_arms(std::vector<double>(2000, 8e-3)), {}, Role::kIncumbent,
                                 Role::kCandidate, 42);
  int above = 0;
  for (const double ratio : ratios) {
    EXPECT_LE(std::fabs(ratio), 5e-9 / 8e-3);
    EXPECT_NE(ratio, 0);
    above += ratio > 0 ? 1 : 0;
  }
  EXPECT_NEAR(above, 1000, 100);  // 4.5 standard deviations
}

TEST(Pairs, TheDitherDependsOnTheSeedAlone) {
  const Blocks blocks = two_arms({8e-3, 8e-3});
  const auto once = log_ratios(blocks, {}, Role::kIncumbent, Role::kCandidate, 5);
  EXPECT_EQ(once, log_ratios(blocks, {}, Role::kIncumbent, Role::kCandidate, 5));
  EXPECT_NE(once, log_ratios(blocks, {}, Role::kIncumbent, Role::kCandidate, 6));
}

TEST(Pairs, RoundsAreTakenInOrderWithTheControlAsThird) {
  const weigh::Weighing weighing = testing::weigh_synthetic({.blocks = 7});
  EXPECT_EQ(rounds_of(arrange(weighing), Role::kCandidate, 1).rounds(), 35u);
  EXPECT_EQ(rounds_of(arrange(weighing), Role::kControl, 1).rounds(), 35u);
}

TEST(Pairs, BeforeItKnowsTheIntervalIsZeroToInfinity) {
  Mix one;
  one.add({1e-3, 1e-3, 1.1e-3});
  for (const Mix& few : {Mix{}, one}) {
    const Comparison result = compare(few, {}, Rules{});
    EXPECT_EQ(result.interval.low, 0);
    EXPECT_EQ(result.interval.high, kInfinity);
    EXPECT_EQ(result.verdict, Verdict::kInconclusive);
    EXPECT_FALSE(std::isnan(result.ratio));
  }
}

TEST(Pairs, TheShownIntervalLiesWithinTheVerdicts) {
  for (const double ratio : {1.0, 1.003, 1.05}) {
    const Comparison result = compare_arms(testing::weigh_synthetic({.candidate_ratio = ratio}));
    EXPECT_GE(result.interval.low, result.verdict_interval.low);
    EXPECT_LE(result.interval.high, result.verdict_interval.high);
    EXPECT_GE(result.ratio, result.interval.low);
    EXPECT_LE(result.ratio, result.interval.high);
  }
}

TEST(Pairs, TheVerdictIsThatOfTheVerdictInterval) {
  const Rules rules;
  for (const double ratio : {0.9, 0.97, 0.995, 1.0, 1.003, 1.03, 1.1}) {
    const Comparison result = compare_arms(testing::weigh_synthetic({.candidate_ratio = ratio}));
    const Interval& interval = result.verdict_interval;
    switch (result.verdict) {
      case Verdict::kWin:
        EXPECT_GE(interval.low, 1) << ratio;
        break;
      case Verdict::kLoss:
        EXPECT_LE(interval.high, 1) << ratio;
        break;
      case Verdict::kEquivalent:
        EXPECT_GE(interval.low, 1 - rules.equivalence - 1e-4) << ratio;
        EXPECT_LE(interval.high, 1 + rules.equivalence + 1e-4) << ratio;
        break;
      default:
        EXPECT_LT(interval.low, 1 + 1e-4) << ratio;
        EXPECT_GT(interval.high, 1 - 1e-4) << ratio;
    }
  }
}

// A region of 8 ms holds 6 ms of dispatches and a = 2 ms in both arms; then none in the candidate.
TEST(Pairs, TheCorrectionTakesTheCostPerRegionOut) {
  const Blocks blocks = two_arms(std::vector<double>(9, 8e-3));
  const Correction equal = correction(blocks, costs(), Role::kIncumbent, Role::kCandidate);
  EXPECT_DOUBLE_EQ(equal.factor, 1);
  EXPECT_DOUBLE_EQ(equal.low, (6 - 0.1) / (6 + 0.1));
  EXPECT_DOUBLE_EQ(equal.high, (6 + 0.1) / (6 - 0.1));
  const Correction unequal =
      correction(blocks, costs(kCost, 0), Role::kIncumbent, Role::kCandidate);
  EXPECT_DOUBLE_EQ(unequal.factor, 6.0 / 8);
  EXPECT_DOUBLE_EQ(unequal.low, (6 - 0.1) / (8 + 0.1));
  EXPECT_DOUBLE_EQ(unequal.high, (6 + 0.1) / (8 - 0.1));
}

TEST(Pairs, ACostThatIsNotKnownCorrectsNothing) {
  auto fits = costs();
  fits[Role::kIncumbent].identifiable = fits[Role::kCandidate].identifiable = false;
  const Correction none = correction(two_arms({8e-3}), fits, Role::kIncumbent, Role::kCandidate);
  EXPECT_EQ(none.low, 1);
  EXPECT_EQ(none.factor, 1);
  EXPECT_EQ(none.high, 1);
}

TEST(Pairs, TheControlIsTheIncumbentsOwnCode) {
  Blocks blocks = two_arms({8e-3});
  blocks.arms[Role::kControl] = blocks.arms[Role::kIncumbent];
  const Correction none = correction(blocks, costs(), Role::kIncumbent, Role::kControl);
  EXPECT_EQ(none.low, 1);
  EXPECT_EQ(none.high, 1);
}

TEST(Pairs, DoubtWidensBothWays) {
  const Correction wide = doubted({1.1, 1.08, 1.12}, 1.005);
  EXPECT_EQ(wide.factor, 1.1);
  EXPECT_DOUBLE_EQ(wide.low, 1.08 / 1.005);
  EXPECT_DOUBLE_EQ(wide.high, 1.12 * 1.005);
}

TEST(Pairs, AControlThatDiffersIsDoubtedByItsDeviation) {
  for (const double ratio : {1.005, 1 / 1.005}) {
    const auto weighing =
        testing::weigh_synthetic({.control_ratio = ratio, .noise = testing::kQuiet});
    EXPECT_NEAR(doubt(rounds_of(arrange(weighing), Role::kControl, 1), {}), 1.005, 1e-4);
  }
}

TEST(Pairs, AControlThatMayBeOneIsNotDoubted) {
  const auto weighing = testing::weigh_synthetic({});
  EXPECT_EQ(doubt(rounds_of(arrange(weighing), Role::kControl, 1), {}), 1);
  EXPECT_EQ(doubt(Mix{}, {}), 1);
}

}  // namespace
}  // namespace tare::judge
