// How often the judge is wrong: rates over thousands of synthetic weighings, under noise with slow
// phases and correlation, watched after every block.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <span>
#include <string>

#include "judge/evidence.h"
#include "judge/judge.h"
#include "judge/sequential.h"
#include "judge/verdict.h"
#include "tests/judge/synthetic.h"

namespace tare::judge {
namespace {

using testing::Noise;
using testing::Plan;
using weigh::Role;

std::vector<double> ratios_of(const Plan& plan) {
  const weigh::Weighing weighing = testing::weigh_synthetic(plan);
  return log_ratios(arrange(weighing), Role::kIncumbent, Role::kCandidate, weighing.seed);
}

Plan lean(std::uint64_t seed, std::uint32_t blocks) {
  Plan plan;
  plan.control = false;
  plan.stream_share = plan.peak_share = 0;
  plan.half_ring_every = 0;
  plan.blocks = blocks;
  plan.seed = seed;
  return plan;
}

const std::map<std::string, Noise>& noises() {
  static const std::map<std::string, Noise> kNoises{
      {"phases of a second", {}},
      {"phases of a region", {1.7, 0.03, 0.02, 0.03, 0.9, 0.02, 0.02, 0.3}},
      {"jitter and spikes", {1, 1, 0, 0.05, 0.97, 0.05, 0.10, 1.0}}};
  return kNoises;
}

// A verdict at any block, though intervals only shrink: one that is equivalent later may have been
// a win before.
bool ever_win_or_loss(std::span<const double> ratios) {
  const Rules rules;
  const Interval last = median_set(ratios, rules.verdict_alpha).interval;
  if (last.low <= 0 && last.high >= 0) return false;
  for (std::size_t blocks = rules.least_blocks; blocks <= ratios.size(); ++blocks) {
    const Interval logs = median_set(ratios.first(blocks), rules.verdict_alpha).interval;
    const Verdict verdict =
        verdict_of({std::exp(logs.low), std::exp(logs.high)}, rules.equivalence);
    if (verdict == Verdict::kWin || verdict == Verdict::kLoss) return true;
  }
  return false;
}

TEST(Rates, EqualArmsWatchedForSixtyBlocksAreToldApartInAtMostOnePercent) {
  constexpr int kWeighings = 1000;
  for (const auto& [name, noise] : noises()) {
    int wrong = 0;
    for (int i = 0; i < kWeighings; ++i) {
      Plan plan = lean(10'000 + static_cast<std::uint64_t>(i), 60);
      plan.noise = noise;
      wrong += ever_win_or_loss(ratios_of(plan)) ? 1 : 0;
    }
    RecordProperty("false verdicts, " + name, wrong);
    // 1 % is 10; three standard deviations of the count above it are 19.
    EXPECT_LE(wrong, 19) << name << ", seeds from 10000";
  }
}

TEST(Rates, PlantedRatiosAreCoveredAlongTheWholePath) {
  constexpr int kWeighings = 400;
  for (const auto& [name, noise] : noises())
    for (const double planted : {0.9, 1.03, 1.3}) {
      int covered = 0;
      for (int i = 0; i < kWeighings; ++i) {
        Plan plan = lean(50'000 + static_cast<std::uint64_t>(i), 40);
        plan.noise = noise;
        plan.candidate_ratio = planted;
        // The interval only shrinks: the last one covers when all did.
        const Comparison result = compare(ratios_of(plan), Rules{});
        covered += result.interval.low <= planted && planted <= result.interval.high ? 1 : 0;
      }
      RecordProperty("covered at " + std::to_string(planted) + ", " + name, covered);
      EXPECT_GE(covered, kWeighings * 95 / 100) << name << ' ' << planted << ", seeds from 50000";
    }
}

TEST(Rates, HonestWeighingsAreSeldomRefused) {
  constexpr int kWeighings = 2000;
  std::map<std::string, int> refusals;
  for (int i = 0; i < kWeighings; ++i) {
    Plan plan;
    plan.seed = 90'000 + static_cast<std::uint64_t>(i);
    plan.blocks = 24;
    plan.candidate_ratio = 1.05;
    plan.noise.slow_seconds = i % 2 == 0 ? 0.3 : 0;
    const Judgement judgement = judge(testing::weigh_synthetic(plan));
    if (judgement.verdict == Verdict::kRefused) ++refusals[judgement.cause];
  }
  for (const auto& [gate, count] : refusals) {
    RecordProperty("refused by " + gate, count);
    EXPECT_LE(count, kWeighings / 100) << gate << ", seeds from 90000";
  }
}

}  // namespace
}  // namespace tare::judge
