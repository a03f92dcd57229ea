#include "judge/luck.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace tare::judge {
namespace {

TEST(PlacementLuck, IsStudentsIntervalOfTheMean) {
  // Spread sqrt((2 * 0.01^2 + 2 * 0.02^2) / 3); t of 3 degrees at 99 % is 5.8409 (any table).
  const std::vector<double> ratios{0.01, 0.03}, controls{0.02, -0.02};
  const double expected = 5.8409 * std::sqrt(0.001 / 3) / std::sqrt(2.0);
  EXPECT_NEAR(placement_luck(ratios, controls, 0.01), expected, 1e-5);
}

TEST(PlacementLuck, OnePlacementKnowsItsControlOnly) {
  // t of 1 degree at 95 % is 12.706.
  EXPECT_NEAR(placement_luck(std::vector{0.5}, std::vector{0.01}, 0.05), 0.12706, 1e-4);
  EXPECT_TRUE(std::isinf(placement_luck(std::vector{0.5}, {}, 0.05)));
  EXPECT_TRUE(std::isinf(placement_luck({}, {}, 0.05)));
}

TEST(PlacementLuck, HoldsTheTruthAsOftenAsItSays) {
  constexpr std::uint64_t kSeed = 17;
  constexpr int kRuns = 20'000;
  std::mt19937_64 random(kSeed);
  std::normal_distribution<double> luck(0, 0.005);
  for (const std::size_t placements : {2u, 3u, 4u}) {
    int missed = 0;
    for (int run = 0; run < kRuns; ++run) {
      std::vector<double> ratios, controls;
      double sum = 0;
      for (std::size_t i = 0; i < placements; ++i) {
        ratios.push_back(luck(random));
        controls.push_back(luck(random));
        sum += ratios.back();
      }
      const double mean = sum / static_cast<double>(placements);
      missed += std::fabs(mean) > placement_luck(ratios, controls, 0.05);
    }
    EXPECT_NEAR(missed / static_cast<double>(kRuns), 0.05, 0.008)
        << placements << " placements, seed " << kSeed;
  }
}

}  // namespace
}  // namespace tare::judge
