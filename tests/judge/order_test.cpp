#include "judge/order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace tare::judge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> one_to(int last) {
  std::vector<double> values(static_cast<std::size_t>(last));
  std::iota(values.rbegin(), values.rend(), 1.0);  // unsorted on purpose
  return values;
}

TEST(Order, MedianOfOddEvenAndNone) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
  EXPECT_FALSE(median({}).has_value());
}

TEST(Order, MedianWithInfinities) {
  EXPECT_EQ(median({kInfinity, 1, 2}), 2);
  EXPECT_EQ(median({kInfinity, kInfinity}), kInfinity);
  EXPECT_FALSE(median({-kInfinity, kInfinity}).has_value());
}

// Ranks from the published tables of the sign test's 95 % interval of a median (e.g. Conover,
// Practical Nonparametric Statistics; Hahn and Meeker, table A.15): 6: 1..6, 10: 2..9, 15: 4..12,
// 20: 6..15, 25: 8..18.
TEST(Order, IntervalRanksMatchPublishedTables) {
  const std::array<std::array<int, 3>, 5> published{
      {{6, 1, 6}, {10, 2, 9}, {15, 4, 12}, {20, 6, 15}, {25, 8, 18}}};
  for (const auto& [count, low, high] : published) {
    const Interval interval = median_interval(one_to(count), 0.05);
    EXPECT_EQ(interval.low, low) << count;
    EXPECT_EQ(interval.high, high) << count;
  }
}

TEST(Order, IntervalOfTooFewIsUnbounded) {
  for (const int count : {0, 1, 5}) {
    const Interval interval = median_interval(one_to(count), 0.05);
    EXPECT_EQ(interval.low, -kInfinity) << count;
    EXPECT_EQ(interval.high, kInfinity) << count;
  }
}

TEST(Order, IntervalOfManyStaysFinite) {
  const Interval interval = median_interval(one_to(5000), 0.05);
  // Normal approximation: 2500 +- 1.96 * sqrt(5000) / 2 = 2431, 2569.
  EXPECT_NEAR(interval.low, 2431, 1);
  EXPECT_NEAR(interval.high, 2570, 1);
}

}  // namespace
}  // namespace tare::judge
