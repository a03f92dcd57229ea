#include "judge/sequential.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tare::judge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double capital(std::size_t above, std::size_t blocks) {
  return std::exp(log_capital(above, blocks));
}

// What makes the rule valid: wherever the game stands, the mean capital after one more fair coin is
// the same.
TEST(Sequential, EveryRoundOfTheGameIsFair) {
  EXPECT_NEAR(capital(0, 0), 1, 1e-12);
  for (std::size_t blocks = 0; blocks < 120; ++blocks)
    for (std::size_t above = 0; above <= blocks; ++above) {
      const double now = capital(above, blocks);
      const double next = (capital(above + 1, blocks + 1) + capital(above, blocks + 1)) / 2;
      ASSERT_NEAR(next / now, 1, 1e-10) << above << " of " << blocks;
    }
}

TEST(Sequential, CapitalIsSymmetricAndGrowsWithTheMajority) {
  for (std::size_t above = 20; above < 40; ++above) {
    EXPECT_NEAR(log_capital(above, 40), log_capital(40 - above, 40), 1e-12);
    EXPECT_LT(log_capital(above, 40), log_capital(above + 1, 40));
  }
  EXPECT_TRUE(std::isfinite(log_capital(100'000, 100'000)));
}

std::size_t blocks_to_exclude_zero(double alpha) {
  std::vector<double> values;
  while (!(median_set(values, alpha).interval.low > 0)) values.push_back(1);
  return values.size();
}

TEST(Sequential, EqualSignsDecideInSevenBlocksAndNineAtOnePercent) {
  EXPECT_EQ(blocks_to_exclude_zero(0.05), 7u);
  EXPECT_EQ(blocks_to_exclude_zero(0.01), 9u);
}

TEST(Sequential, NothingIsExcludedBeforeItCanBe) {
  for (const std::size_t count : {0u, 1u, 2u, 6u}) {
    const std::vector<double> values(count, 3.0);
    const MedianSet set = median_set(values, 0.05);
    EXPECT_EQ(set.interval.low, -kInfinity);
    EXPECT_EQ(set.interval.high, kInfinity);
    EXPECT_FALSE(set.crossed);
  }
}

// The definition, spelled out: at every prefix, count the signs against a hypothesis and look at
// the capital.
bool survives(const std::vector<double>& values, double hypothesis, double alpha) {
  std::size_t above = 0;
  for (std::size_t n = 1; n <= values.size(); ++n) {
    above += values[n - 1] > hypothesis ? 1 : 0;
    if (capital(above, n) >= 1 / alpha) return false;
  }
  return true;
}

TEST(Sequential, TheIntervalIsExactlyTheHypothesesThatSurvive) {
  constexpr unsigned kSeed = 20261130;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 random(kSeed);
  std::normal_distribution<double> normal(0.3, 1);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<double> values(45);
    for (double& value : values) value = normal(random);
    const MedianSet set = median_set(values, 0.05);
    ASSERT_FALSE(set.crossed);
    for (double hypothesis = -2; hypothesis < 2; hypothesis += 0.0137) {
      const bool inside = set.interval.low <= hypothesis && hypothesis <= set.interval.high;
      ASSERT_EQ(inside, survives(values, hypothesis, 0.05)) << hypothesis;
    }
  }
}

TEST(Sequential, OnlyShrinksWhileItIsWatched) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  Interval before{-kInfinity, kInfinity};
  for (int block = 0; block < 100; ++block) {
    values.push_back(normal(random));
    const Interval now = median_set(values, 0.05).interval;
    ASSERT_GE(now.low, before.low);
    ASSERT_LE(now.high, before.high);
    before = now;
  }
}

TEST(Sequential, AMedianThatMovedIsSaidToHaveCrossed) {
  std::vector<double> values(30, 1.0);
  values.insert(values.end(), 300, -1.0);
  const MedianSet set = median_set(values, 0.05);
  EXPECT_TRUE(set.crossed);
  EXPECT_EQ(set.interval.low, -1);
  EXPECT_EQ(set.interval.high, 1);
}

TEST(Sequential, InfiniteValuesCountAsSigns) {
  const std::vector<double> values(12, kInfinity);
  const MedianSet set = median_set(values, 0.05);
  EXPECT_EQ(set.interval.low, kInfinity);
  EXPECT_EQ(set.interval.high, kInfinity);
}

}  // namespace
}  // namespace tare::judge
