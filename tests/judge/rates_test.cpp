// How often the judge is wrong: rates over thousands of synthetic weighings, under noise with slow
// phases and correlation, watched after every block.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "judge/evidence.h"
#include "judge/judge.h"
#include "tests/judge/synthetic.h"

namespace tare::judge {
namespace {

using testing::Noise;
using testing::Plan;
using weigh::Role;

Plan lean(std::uint64_t seed, std::uint32_t blocks) {
  Plan plan;
  plan.stream_share = plan.peak_share = 0;
  plan.half_ring = plan.slices = false;
  plan.long_dispatches = plan.round_dispatches;
  plan.blocks = blocks;
  plan.seed = seed;
  return plan;
}

const std::map<std::string, Noise>& noises() {
  static const std::map<std::string, Noise> kNoises{
      {"phases of a second", {}},
      {"phases of a region", {1.7, 0.003, 0.002, 0.03, 0.9, 0.02, 0.02, 0.3}},
      {"jitter and spikes", {1, 1, 0, 0.05, 0.97, 0.05, 0.10, 1.0}}};
  return kNoises;
}

Mix rounds_of(const Plan& plan) {
  const weigh::Weighing weighing = testing::weigh_synthetic(plan);
  return rounds_of(arrange(weighing), Role::kCandidate, plan.seed);
}

TEST(Rates, PlantedRatiosAreCoveredAlongTheWholePath) {
  constexpr int kWeighings = 200;
  for (const auto& [name, noise] : noises())
    for (const double planted : {0.9, 1.03, 1.3}) {
      int covered = 0;
      for (int i = 0; i < kWeighings; ++i) {
        Plan plan = lean(50'000 + static_cast<std::uint64_t>(i), 30);
        plan.noise = noise;
        plan.candidate_ratio = planted;
        plan.candidate_per_region = plan.incumbent.per_region = 0;
        // The interval only shrinks: the last one covers when all did.
        const Comparison result = compare(rounds_of(plan), {}, Rules{});
        covered += result.interval.low <= planted && planted <= result.interval.high ? 1 : 0;
      }
      RecordProperty("covered at " + std::to_string(planted) + ", " + name, covered);
      EXPECT_GE(covered, kWeighings * 95 / 100) << name << ' ' << planted << ", seeds from 50000";
    }
}

TEST(Rates, HonestWeighingsAreSeldomRefused) {
  constexpr int kWeighings = 500;
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
