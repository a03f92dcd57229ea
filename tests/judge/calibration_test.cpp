#include "judge/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace tare::judge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEquivalence = 0.01;

Trial trial_of(Verdict verdict, Verdict direction, double true_ratio) {
  Trial trial;
  trial.setting = "hot, quiet";
  trial.experiment = "some";
  trial.verdict = verdict;
  trial.direction = direction;
  trial.true_ratio = true_ratio;
  return trial;
}

CalibrationRow summary_of(const std::vector<Trial>& trials) {
  const auto rows = summarise(trials, kEquivalence);
  EXPECT_EQ(rows.size(), 1u);
  return rows.front();
}

TEST(Calibration, AVerdictIsFalseWhenItSaysWhatIsNot) {
  const auto is = [](Verdict verdict, Verdict direction, double ratio) {
    return is_false(trial_of(verdict, direction, ratio), kEquivalence);
  };
  EXPECT_FALSE(is(Verdict::kWin, Verdict::kWin, 1.02));
  EXPECT_TRUE(is(Verdict::kWin, Verdict::kEquivalent, 1));
  EXPECT_TRUE(is(Verdict::kWin, Verdict::kLoss, 0.98));
  EXPECT_FALSE(is(Verdict::kLoss, Verdict::kLoss, 0.98));
  EXPECT_TRUE(is(Verdict::kLoss, Verdict::kEquivalent, 1));
  EXPECT_FALSE(is(Verdict::kEquivalent, Verdict::kLoss, 0.991));
  EXPECT_TRUE(is(Verdict::kEquivalent, Verdict::kLoss, 0.989));
  EXPECT_TRUE(is(Verdict::kEquivalent, Verdict::kWin, 1.011));
  EXPECT_FALSE(is(Verdict::kEquivalent, Verdict::kLoss, 0)) << "the ratio is not known";
  EXPECT_FALSE(is(Verdict::kInconclusive, Verdict::kLoss, 0.9));
  EXPECT_FALSE(is(Verdict::kRefused, Verdict::kLoss, 0.9));
}

TEST(Calibration, CostsAreRecoveredWithinTwoMicrosecondsOrFivePercent) {
  EXPECT_TRUE(is_recovered(1.9e-6, 0));
  EXPECT_FALSE(is_recovered(-2.1e-6, 0));
  EXPECT_TRUE(is_recovered(21.9e-6, 20e-6));
  EXPECT_TRUE(is_recovered(1049e-6, 1000e-6));
  EXPECT_FALSE(is_recovered(1051e-6, 1000e-6));
  EXPECT_TRUE(is_recovered(-195e-6, -200e-6)) << "planted in the incumbent";
}

TEST(Calibration, GroupsBySettingAndExperimentInOrder) {
  std::vector<Trial> trials(5, trial_of(Verdict::kWin, Verdict::kWin, 1.02));
  trials[1].experiment = "other";
  trials[2].setting = "cold, quiet";
  const auto rows = summarise(trials, kEquivalence);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].runs, 3u);
  EXPECT_EQ(rows[1].experiment, "other");
  EXPECT_EQ(rows[2].setting, "cold, quiet");
  EXPECT_TRUE(summarise({}, kEquivalence).empty());
}

// 400 normal estimates with intervals of known width: the share that covers follows from the normal
// law, the bias is what was put in.
TEST(Calibration, CoverageAndBiasOfSyntheticSamples) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  constexpr double kTruth = 1.05, kDeviation = 0.002, kBias = 0.0005;
  std::normal_distribution<double> error(kBias, kDeviation);
  std::vector<Trial> trials;
  for (int i = 0; i < 400; ++i) {
    Trial trial = trial_of(Verdict::kWin, Verdict::kWin, kTruth);
    trial.ratio = kTruth * (1 + error(random));
    trial.interval = {trial.ratio - 4 * kDeviation, trial.ratio + 4 * kDeviation};
    if (i % 10 == 0) trial.interval = {trial.ratio + 1, trial.ratio + 2};  // a tenth never covers
    trial.true_byte_ratio = kTruth;
    trial.byte_ratio = 0.98 * kTruth;
    trials.push_back(trial);
  }
  const CalibrationRow row = summary_of(trials);
  EXPECT_EQ(row.intervals, 400u);
  // The others miss at 4 standard deviations less the bias: 0.01 % of 360.
  EXPECT_LE(row.covered, 360u);
  EXPECT_GE(row.covered, 357u);
  // Median of 400: standard error 1.25 * 0.002 / 20; five of them.
  EXPECT_NEAR(row.bias, kBias, 6.3e-4);
  const Bias of_bytes = bias_of_bytes({&row, 1});
  EXPECT_NEAR(of_bytes.median, -0.02, 1e-12);
  EXPECT_EQ(of_bytes.runs, 400u);
  EXPECT_LE(of_bytes.interval.low, of_bytes.median);
  EXPECT_GE(of_bytes.interval.high, of_bytes.median);
}

TEST(Calibration, NineOfTenIsTheNinthOfTen) {
  std::vector<Trial> trials;
  for (int i = 1; i <= 10; ++i) {
    Trial trial = trial_of(Verdict::kLoss, Verdict::kLoss, 0.98);
    trial.seen = {i < 10, 0.1 * i, 1.0 * i};  // one in ten sees nothing
    trial.seen_direction = i == 1 ? Verdict::kWin : Verdict::kLoss;
    trial.decided = {i < 9, 0.1 * i, 1.0 * i};  // two in ten decide nothing
    trials.push_back(trial);
  }
  const CalibrationRow row = summary_of(trials);
  EXPECT_EQ(row.seen, 9u);
  EXPECT_EQ(row.seen_wrong, 1u);
  EXPECT_DOUBLE_EQ(row.seen_region90, 0.9);
  EXPECT_DOUBLE_EQ(row.seen_wall90, 9);
  EXPECT_EQ(row.decided_region90, kInfinity);
  EXPECT_EQ(row.verdicts.at(Verdict::kLoss), 10u);
}

TEST(Calibration, RecoveriesCountWhatWasIdentifiable) {
  std::vector<Trial> trials(3, trial_of(Verdict::kEquivalent, Verdict::kEquivalent, 1));
  for (Trial& trial : trials) trial.planted_region_seconds = 200e-6;
  trials[0].region_known = trials[1].region_known = true;
  trials[0].region_seconds = 201e-6;
  trials[1].region_seconds = 150e-6;
  const CalibrationRow row = summary_of(trials);
  EXPECT_EQ(row.region.known, 2u);
  EXPECT_EQ(row.region.recovered, 1u);
  EXPECT_NEAR(row.region.median_error, (1e-6 - 50e-6) / 2, 1e-12);
  EXPECT_NEAR(row.region.worst_error, 50e-6, 1e-12);
  EXPECT_EQ(row.dispatch.known, 0u);
}

TEST(Calibration, WhatCannotBeToldApartMustBeRefused) {
  std::vector<Trial> trials(4, trial_of(Verdict::kRefused, Verdict::kEquivalent, 1));
  for (Trial& trial : trials) {
    trial.identifiable = false;
    trial.cause = "overhead";
  }
  trials[3].verdict = Verdict::kWin;
  const CalibrationRow row = summary_of(trials);
  EXPECT_EQ(row.unidentifiable, 4u);
  EXPECT_EQ(row.unidentifiable_refused, 3u);
  EXPECT_TRUE(row.causes.empty()) << "these refusals are right, not those of honest arms";
}

TEST(Calibration, TheLeastDifferenceIsTheIntervalsFurtherEdge) {
  std::vector<Trial> trials(2, trial_of(Verdict::kEquivalent, Verdict::kEquivalent, 1));
  for (Trial& trial : trials) {
    trial.watched = true;
    trial.verdict_interval = {0.996, 1.002};
  }
  EXPECT_NEAR(summary_of(trials).smallest90, 1 / 0.996 - 1, 1e-12);
  trials[0].verdict_interval = {0, kInfinity};
  EXPECT_EQ(summary_of(trials).smallest90, kInfinity);
}

}  // namespace
}  // namespace tare::judge
