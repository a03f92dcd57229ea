#include "judge/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/judge/synthetic.h"

namespace tare::judge {
namespace {

using testing::Plan;
using weigh::Role;

constexpr double kBytes = 2048 * 1024 * 2;  // of the synthetic problem

Fit fit_of(const Plan& plan, Role role = Role::kIncumbent) {
  return fit(arrange(testing::weigh_synthetic(plan)).arms.at(role), kBytes);
}

TEST(Fit, IsExactWithoutNoise) {
  Plan plan{.incumbent = {100e-6, 500e-6}, .blocks = 8, .noise = testing::kQuiet};
  for (const bool slices : {true, false}) {
    plan.slices = slices;
    const Fit result = fit_of(plan);
    EXPECT_TRUE(result.identifiable);
    EXPECT_NEAR(result.per_dispatch, 100e-6, 1e-9);  // regions are rounded to 10 ns
    EXPECT_NEAR(result.per_region, 500e-6, 2e-8);
    EXPECT_NEAR(result.overhead_share, 500e-6 / 24.5e-3, 1e-6);
    EXPECT_NEAR(result.naive_per_dispatch, 24.5e-3 / 240, 1e-10);
  }
}

// The two ways to tell a: from thin slices, which cost little else, and from rounds and long
// regions, where noise of milliseconds hides microseconds.
struct Way {
  bool slices;
  double bias;  // of the mean over 60 weighings, seconds
};

TEST(Fit, RecoversPlantedCostsUnderNoise) {
  for (const Way way : {Way{true, 3e-6}, Way{false, 60e-6}})
    for (const double planted : {0.0, 200e-6, 1e-3}) {
      int covered = 0;
      double sum = 0;
      constexpr int kRepeats = 60;
      for (int repeat = 0; repeat < kRepeats; ++repeat) {
        Plan plan{.incumbent = {100e-6, planted}, .blocks = 40, .slices = way.slices};
        plan.seed = 500 + static_cast<std::uint64_t>(repeat);
        const Fit result = fit_of(plan);
        sum += result.per_region;
        const Interval& interval = result.per_region_interval;
        covered += interval.low <= planted * 1.25 && planted <= interval.high ? 1 : 0;
      }
      // A slow phase makes the planted cost itself up to 1.7 times as long: the mean lies between
      // the two.
      EXPECT_GT(sum / kRepeats, planted - way.bias) << planted << ", seeds from 500";
      EXPECT_LT(sum / kRepeats, 1.25 * planted + way.bias) << planted << ", seeds from 500";
      EXPECT_GE(covered, kRepeats * 9 / 10) << planted << ", seeds from 500";
    }
}

// A dispatch of a chain is many of the arm's, each of which costs what slices tell.
TEST(Fit, AChainPaysTheCostOfEveryLink) {
  const Plan plan{.incumbent = {100e-6, 20e-6, 3e-6}, .blocks = 40, .noise = testing::kQuiet};
  const ArmTimes times = arrange(testing::weigh_synthetic(plan)).arms.at(Role::kIncumbent);
  const Fit one = fit(times, kBytes), chain = fit(times, kBytes, 7);
  EXPECT_NEAR(chain.dispatch_cost, 7 * one.dispatch_cost, 1e-15);
  EXPECT_NEAR(chain.dispatch_cost_interval.high, 7 * one.dispatch_cost_interval.high, 1e-15);
  EXPECT_NEAR(chain.seconds_per_byte, (chain.per_dispatch - chain.dispatch_cost) / kBytes, 1e-20);
}

// t = c + s * bytes, c told from slices of w and 2 w columns.
TEST(Fit, TellsADispatchFromItsBytes) {
  Plan plan{.incumbent = {100e-6, 20e-6, 30e-6}, .blocks = 40, .noise = testing::kQuiet};
  const Fit exact = fit_of(plan);
  EXPECT_TRUE(exact.split_identifiable);
  EXPECT_NEAR(exact.dispatch_cost, 30e-6, 5e-9);
  EXPECT_NEAR(exact.seconds_per_byte, 70e-6 / kBytes, 1e-8 / kBytes);
  plan.noise = {};
  plan.noise.slow_seconds = 0;
  int covered = 0;
  constexpr int kRepeats = 60;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    plan.seed = 700 + static_cast<std::uint64_t>(repeat);
    const Interval interval = fit_of(plan).dispatch_cost_interval;
    covered += interval.low <= 30e-6 && 30e-6 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(covered, kRepeats * 9 / 10) << "seeds from 700";
}

// A whole model's tokens have no thin slice: neighbouring stretches of one and of a few tell a, and
// nothing tells c from s. Regions last longer than a fast or slow phase, which long ones feel.
TEST(Fit, ShortStretchesTellARegionsCostWhereLongOnesMeetOtherPhases) {
  Plan plan{.incumbent = {8e-3, 4e-3}, .full_block_every = 1, .slice_seconds = 8e-3, .seed = 900};
  weigh::Weighing weighing = testing::weigh_synthetic(plan);
  std::erase_if(weighing.regions, [](const weigh::Region& region) {
    return region.purpose == weigh::Purpose::kSliceTwice;
  });
  const Fit stretches = fit(arrange(weighing).arms.at(Role::kIncumbent), kBytes);
  plan.slices = false;
  const Fit lengths = fit_of(plan);
  const auto width = [](const Interval& interval) { return interval.high - interval.low; };
  EXPECT_NEAR(stretches.per_region, 4e-3, 2e-3);
  EXPECT_LT(width(stretches.per_region_interval), width(lengths.per_region_interval) / 4);
  EXPECT_FALSE(stretches.split_identifiable);
}

TEST(Fit, WithoutSlicesNothingTellsThemApart) {
  const Fit result = fit_of({.slices = false});
  EXPECT_FALSE(result.split_identifiable);
  EXPECT_EQ(result.seconds_per_byte, 0);
  EXPECT_FALSE(std::isfinite(result.dispatch_cost_interval.low));
}

TEST(Fit, ImpossibleTimesOfSlicesDropTheirBlockAndNothingElse) {
  const auto clean = testing::weigh_synthetic({.noise = testing::kQuiet});
  const Fit expected = fit(arrange(clean).arms.at(Role::kIncumbent), kBytes);
  for (const double bad : {0.0, -1e-3, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    auto weighing = clean;
    for (weigh::Region& region : weighing.regions)
      if (region.block == 2 && region.purpose == weigh::Purpose::kSliceOne) region.seconds = bad;
    const Blocks blocks = arrange(weighing);
    EXPECT_EQ(blocks.count(), 29u);
    const Fit result = fit(blocks.arms.at(Role::kIncumbent), kBytes);
    EXPECT_NEAR(result.per_region, expected.per_region, 2e-8) << bad;
    EXPECT_NEAR(result.dispatch_cost, expected.dispatch_cost, 1e-8) << bad;
  }
}

TEST(Fit, OneLengthIsNotIdentifiable) {
  const Fit result =
      fit_of({.long_dispatches = 4, .round_dispatches = 4, .blocks = 20, .slices = false});
  EXPECT_FALSE(result.identifiable);
  EXPECT_EQ(result.per_region, 0);
  EXPECT_GT(result.per_dispatch, 0);
  EXPECT_FALSE(std::isfinite(result.per_region_interval.low));
}

TEST(Fit, LengthsTooCloseAreNotIdentifiable) {
  Plan plan{.long_dispatches = 7, .round_dispatches = 4, .blocks = 20, .slices = false};
  EXPECT_FALSE(fit_of(plan).identifiable);
  plan.long_dispatches = 8;
  EXPECT_TRUE(fit_of(plan).identifiable);
}

TEST(Fit, FourBlocksAreNotIdentifiableFiveAre) {
  EXPECT_FALSE(fit_of({.blocks = 4}).identifiable);
  EXPECT_TRUE(fit_of({.blocks = 5}).identifiable);
}

TEST(Fit, NothingGivesZeros) {
  const Fit result = fit(ArmTimes{}, kBytes);
  EXPECT_EQ(result.per_dispatch, 0);
  EXPECT_EQ(result.naive_per_dispatch, 0);
  EXPECT_FALSE(result.identifiable);
  EXPECT_FALSE(result.split_identifiable);
}

TEST(Fit, ALimitArmOfOneLengthIsItsNaiveTime) {
  Plan plan{.incumbent = {100e-6, 0}, .stream_share = 0.5, .blocks = 8, .noise = testing::kQuiet};
  EXPECT_NEAR(fit_of(plan, Role::kStream).per_dispatch, 50e-6, 1e-9);
}

}  // namespace
}  // namespace tare::judge
