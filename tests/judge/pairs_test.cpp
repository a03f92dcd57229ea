#include "judge/pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/judge/synthetic.h"

namespace tare::judge {
namespace {

using testing::Plan;
using weigh::Role;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Blocks of an incumbent (slope 1 ms) and a candidate with the given long and short times.
Blocks two_arms(std::vector<double> candidate_long, std::vector<double> candidate_short) {
  Blocks blocks;
  const std::size_t count = candidate_long.size();
  for (std::uint32_t i = 0; i < count; ++i) blocks.numbers.push_back(i);
  blocks.arms[Role::kIncumbent] = {
      8, 1, std::vector<double>(count, 8e-3), std::vector<double>(count, 1e-3), {}};
  blocks.arms[Role::kCandidate] = {8, 1, std::move(candidate_long), std::move(candidate_short), {}};
  return blocks;
}

TEST(Pairs, CompareSlopesNotOverheads) {
  Plan plan{.incumbent = {100e-6, 5e-3},
            .candidate_ratio = 1.25,
            .candidate_per_region = 0,
            .blocks = 12,
            .noise = testing::kQuiet};
  const weigh::Weighing weighing = testing::weigh_synthetic(plan);
  const Comparison result = compare(
      log_ratios(arrange(weighing), Role::kIncumbent, Role::kCandidate, weighing.seed), Rules{});
  EXPECT_NEAR(result.ratio, 1.25, 1e-5);
  EXPECT_NEAR(result.interval.low, 1.25, 1e-5);
  EXPECT_NEAR(result.interval.high, 1.25, 1e-5);
}

TEST(Pairs, NegativeSlopesKeepTheirSign) {
  const Blocks blocks = two_arms({8e-3, 1e-3}, {1e-3, 2e-3});
  const auto ratios = log_ratios(blocks, Role::kIncumbent, Role::kCandidate, 1);
  ASSERT_EQ(ratios.size(), 2u);
  EXPECT_NEAR(ratios[0], 0, 1e-5);
  EXPECT_EQ(ratios[1], kInfinity);
  EXPECT_EQ(log_ratios(blocks, Role::kCandidate, Role::kIncumbent, 1)[1], -kInfinity);
}

TEST(Pairs, TwoNegativeSlopesSayNothing) {
  Blocks blocks = two_arms({1e-3}, {2e-3});
  blocks.arms[Role::kIncumbent].long_seconds = {0.5e-3};
  EXPECT_TRUE(log_ratios(blocks, Role::kIncumbent, Role::kCandidate, 1).empty());
}

TEST(Pairs, AMissingArmGivesNoRatios) {
  EXPECT_TRUE(log_ratios(Blocks{}, Role::kIncumbent, Role::kControl, 1).empty());
}

TEST(Pairs, TiesBecomeFairCoinsOfHalfATimerStep) {
  const Blocks blocks = two_arms(std::vector<double>(2000, 8e-3), std::vector<double>(2000, 1e-3));
  const auto ratios = log_ratios(blocks, Role::kIncumbent, Role::kCandidate, 42);
  int above = 0;
  for (const double ratio : ratios) {
    EXPECT_LE(std::fabs(ratio), 5e-9 / 8e-3);
    EXPECT_NE(ratio, 0);
    above += ratio > 0 ? 1 : 0;
  }
  EXPECT_NEAR(above, 1000, 100);  // 4.5 standard deviations
}

TEST(Pairs, TheDitherDependsOnTheSeedAlone) {
  const Blocks blocks = two_arms({8e-3, 8e-3}, {1e-3, 1e-3});
  const auto once = log_ratios(blocks, Role::kIncumbent, Role::kCandidate, 5);
  EXPECT_EQ(once, log_ratios(blocks, Role::kIncumbent, Role::kCandidate, 5));
  EXPECT_NE(once, log_ratios(blocks, Role::kIncumbent, Role::kCandidate, 6));
}

TEST(Pairs, BeforeItKnowsTheIntervalIsZeroToInfinity) {
  for (const std::vector<double>& few : {std::vector<double>{}, std::vector<double>{0.1},
                                         std::vector<double>{-kInfinity, kInfinity}}) {
    const Comparison result = compare(few, Rules{});
    EXPECT_EQ(result.interval.low, 0);
    EXPECT_EQ(result.interval.high, kInfinity);
    EXPECT_FALSE(std::isnan(result.ratio));
  }
}

TEST(Pairs, TheShownIntervalLiesWithinTheVerdicts) {
  std::vector<double> ratios;
  for (int i = 0; i < 30; ++i) ratios.push_back(0.01 * ((i * 7) % 11));
  const Comparison result = compare(ratios, Rules{});
  EXPECT_GE(result.interval.low, result.verdict_interval.low);
  EXPECT_LE(result.interval.high, result.verdict_interval.high);
  EXPECT_GE(result.ratio, result.interval.low);
  EXPECT_LE(result.ratio, result.interval.high);
}

TEST(Pairs, AControlThatDiffersWidensBothWays) {
  const Comparison candidate{1.10, {1.08, 1.12}, {1.07, 1.13}, false};
  for (const double ratio : {1.005, 1 / 1.005}) {
    const Comparison control{ratio, {ratio - 0.001, ratio + 0.001}, {0.9, 1.1}, false};
    const Comparison wide = widened_by(control, candidate);
    EXPECT_NEAR(wide.interval.low, 1.08 / 1.005, 1e-12);
    EXPECT_NEAR(wide.interval.high, 1.12 * 1.005, 1e-12);
    EXPECT_NEAR(wide.verdict_interval.low, 1.07 / 1.005, 1e-12);
    EXPECT_EQ(wide.ratio, 1.10);
  }
}

TEST(Pairs, AControlThatMayBeOneWidensNothing) {
  const Comparison candidate{1.10, {1.08, 1.12}, {1.07, 1.13}, false};
  const Comparison control{1.005, {0.999, 1.011}, {0.99, 1.02}, false};
  EXPECT_EQ(widened_by(control, candidate).interval.low, 1.08);
  EXPECT_EQ(widened_by(Comparison{}, candidate).interval.high, 1.12);
}

}  // namespace
}  // namespace tare::judge
