#include "judge/judge.h"

#include <fmt/format.h>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/judge/synthetic.h"

namespace tare::judge {
namespace {

using testing::Plan;
using weigh::Role;

void expect_no_nan(const Judgement& judgement) {
  for (const double value : {judgement.limit_seconds,
                             judgement.stream_bytes_per_second,
                             judgement.peak_operations_per_second,
                             judgement.incumbent_gbps,
                             judgement.candidate_gbps,
                             judgement.gap,
                             judgement.ratio,
                             judgement.interval.low,
                             judgement.interval.high,
                             judgement.verdict_interval.low,
                             judgement.verdict_interval.high,
                             judgement.naive_ratio,
                             judgement.control_ratio,
                             judgement.control_interval.low,
                             judgement.control_interval.high,
                             judgement.mean_ratio,
                             judgement.tail_ratio,
                             judgement.log_evidence,
                             judgement.placement_spread,
                             judgement.weighed_seconds,
                             judgement.seconds_to_decide,
                             judgement.break_even_dispatches})
    EXPECT_FALSE(std::isnan(value));
  for (const auto& [role, fit] : judgement.fits)
    for (const double value :
         {fit.per_dispatch, fit.per_region, fit.overhead_share, fit.naive_per_dispatch,
          fit.per_dispatch_interval.low, fit.per_dispatch_interval.high,
          fit.per_region_interval.low, fit.per_region_interval.high, fit.dispatch_cost,
          fit.dispatch_cost_interval.low, fit.dispatch_cost_interval.high, fit.seconds_per_byte})
      EXPECT_FALSE(std::isnan(value)) << to_string(role);
  for (const Finding& finding : judgement.gates) {
    EXPECT_FALSE(std::isnan(finding.seen)) << finding.gate;
    EXPECT_FALSE(std::isnan(finding.allowed)) << finding.gate;
    EXPECT_TRUE(finding.passed || !finding.sentence.empty()) << finding.gate;
    EXPECT_EQ(finding.sentence.find("nan"), std::string::npos) << finding.sentence;
  }
}

// Every number and word of a judgement, to compare two of them bit by bit.
std::string print(const Judgement& judgement) {
  std::string text = fmt::format(
      "{:a} {:a} {:a} {:a} {:a} {:a} {:a} {:a} {:a} {:a} {:a} {:a} {} {} {} {}",
      judgement.log_evidence, judgement.mean_ratio, judgement.tail_ratio, judgement.ratio,
      judgement.interval.low, judgement.interval.high, judgement.verdict_interval.low,
      judgement.verdict_interval.high, judgement.naive_ratio, judgement.control_ratio,
      judgement.gap, judgement.limit_seconds, to_string(judgement.verdict),
      to_string(judgement.decision), judgement.cause, judgement.cause_sentence);
  for (const auto& [role, fit] : judgement.fits)
    text += fmt::format(" {:a} {:a} {:a}", fit.per_dispatch, fit.per_region, fit.overhead_share);
  for (const Finding& finding : judgement.gates)
    text += fmt::format("\n{} {} {:a} {}", finding.gate, finding.passed, finding.seen,
                        finding.sentence);
  return text;
}

TEST(Judge, AWinWithEqualBitsIsServed) {
  const auto weighing = testing::weigh_synthetic({.candidate_ratio = 1.25, .blocks = 30});
  const Judgement judgement = judge(weighing);
  EXPECT_EQ(judgement.verdict, Verdict::kWin) << judgement.cause_sentence;
  EXPECT_EQ(judgement.decision, Decision::kServe);
  EXPECT_NEAR(judgement.ratio, 1.25, 0.03);
  EXPECT_LT(judgement.interval.low, 1.25);
  EXPECT_GT(judgement.interval.high, 1.25);
  EXPECT_EQ(judgement.blocks, 30u);
  EXPECT_EQ(judgement.cause, "");
  EXPECT_TRUE(decided(weighing));
}

TEST(Judge, AWinWithOtherBitsIsATrade) {
  auto weighing = testing::weigh_synthetic({.candidate_ratio = 1.25});
  weighing.proof.differing = 3;
  EXPECT_EQ(judge(weighing).decision, Decision::kTrade);
}

TEST(Judge, ALossIsKept) {
  const Judgement judgement =
      judge(testing::weigh_synthetic({.candidate_ratio = 0.8, .stream_share = 0.5}));
  EXPECT_EQ(judgement.verdict, Verdict::kLoss);
  EXPECT_EQ(judgement.decision, Decision::kKeep);
}

TEST(Judge, EqualTimesAreEquivalent) {
  const auto weighing = testing::weigh_synthetic({.noise = testing::kQuiet});
  const Judgement judgement = judge(weighing);
  EXPECT_EQ(judgement.verdict, Verdict::kEquivalent) << judgement.cause_sentence;
  EXPECT_TRUE(decided(weighing));
  EXPECT_NEAR(judgement.ratio, 1, 1e-5);
  expect_no_nan(judgement);
}

TEST(Judge, LimitsAndUnits) {
  Plan plan{
      .incumbent = {100e-6, 0}, .stream_share = 0.8, .peak_share = 0.1, .noise = testing::kQuiet};
  Judgement judgement = judge(testing::weigh_synthetic(plan));
  const double weights = 2048.0 * 1024 * 2;
  EXPECT_EQ(judgement.bound, Bound::kMemory);
  EXPECT_NEAR(judgement.limit_seconds, 80e-6, 1e-6);
  EXPECT_NEAR(judgement.gap, 1.25, 0.01);
  EXPECT_NEAR(judgement.incumbent_gbps, weights / 100e-6 / 1e9, 0.1);
  EXPECT_NEAR(judgement.stream_bytes_per_second / (weights / 80e-6), 1, 0.01);
  EXPECT_NEAR(judgement.peak_operations_per_second / (weights / 10e-6), 1, 0.03);
  plan.candidate_ratio = 0.9;
  EXPECT_TRUE(std::isinf(judge(testing::weigh_synthetic(plan)).break_even_dispatches));
  plan.candidate_ratio = 1.25;  // 2 ms dearer to prepare, 20 us faster
  EXPECT_NEAR(judge(testing::weigh_synthetic(plan)).break_even_dispatches, 100, 0.1);
  plan.peak_share = 0.9;
  EXPECT_EQ(judge(testing::weigh_synthetic(plan)).bound, Bound::kCompute);
}

TEST(Judge, TheTrapNaiveRatioStandsBesideTheRefusal) {
  // Equal kernels; the incumbent pays 250 us a region, the candidate nothing; regions of 0.4 ms.
  const Plan plan{.incumbent = {100e-6, 250e-6},
                  .candidate_per_region = 0,
                  .stream_share = 0,
                  .peak_share = 0,
                  .long_dispatches = 4,
                  .round_dispatches = 1};
  const Judgement judgement = judge(testing::weigh_synthetic(plan));
  EXPECT_EQ(judgement.verdict, Verdict::kRefused);
  EXPECT_EQ(judgement.cause, "overhead") << judgement.cause_sentence;
  EXPECT_EQ(judgement.decision, Decision::kKeep);
  EXPECT_GT(judgement.naive_ratio, 1.5);
  EXPECT_NEAR(judgement.ratio, 1, 0.1);
}

TEST(Judge, AFailureRefusesAndKeepsTheNumbers) {
  auto weighing = testing::weigh_synthetic({.candidate_ratio = 1.25});
  weighing.failure = "the candidate crashed (signal 11) in block 30";
  const Judgement judgement = judge(weighing);
  EXPECT_EQ(judgement.verdict, Verdict::kRefused);
  EXPECT_EQ(judgement.cause, "failed");
  EXPECT_EQ(judgement.cause_sentence, *weighing.failure);
  EXPECT_GT(judgement.ratio, 1.2);
}

TEST(Judge, AnIncompleteBlockChangesNothing) {
  auto weighing = testing::weigh_synthetic({.candidate_ratio = 1.1, .blocks = 20});
  const std::string whole = print(judge(weighing));
  weigh::Region region = weighing.regions.front();
  region.block = 20;
  region.seconds *= 100;
  weighing.regions.push_back(region);
  EXPECT_EQ(print(judge(weighing)), whole);
}

TEST(Judge, TheSameSamplesGiveTheSameBytes) {
  const auto weighing = testing::weigh_synthetic({.candidate_ratio = 1.03, .seed = 77});
  EXPECT_EQ(print(judge(weighing)), print(judge(weighing)));
}

TEST(Judge, NoNaNWhateverIsMissing) {
  for (const std::uint32_t blocks : {0u, 1u, 2u, 5u, 9u}) {
    SCOPED_TRACE(blocks);
    auto weighing = testing::weigh_synthetic({.blocks = blocks});
    const Judgement judgement = judge(weighing);
    expect_no_nan(judgement);
    EXPECT_EQ(judgement.verdict, Verdict::kInconclusive) << judgement.cause_sentence;
    EXPECT_FALSE(decided(weighing));
    for (const Role role : {Role::kIncumbent, Role::kControl, Role::kCandidate, Role::kStream}) {
      auto without = weighing;
      std::erase_if(without.regions, [&](const auto& r) { return r.arm == role; });
      std::erase_if(without.arms, [&](const auto& a) { return a.role == role; });
      expect_no_nan(judge(without));
    }
  }
  expect_no_nan(judge({}));
}

TEST(Judge, NoBlockKnowsNothing) {
  const Judgement judgement = judge(testing::weigh_synthetic({.blocks = 0}));
  EXPECT_EQ(judgement.ratio, 0);
  EXPECT_EQ(judgement.interval.low, 0);
  EXPECT_TRUE(std::isinf(judgement.interval.high));
}

TEST(Judge, OneLengthIsRefusedAsNotIdentifiable) {
  const Judgement judgement = judge(
      testing::weigh_synthetic({.long_dispatches = 1, .round_dispatches = 1, .slices = false}));
  EXPECT_EQ(judgement.verdict, Verdict::kRefused);
  EXPECT_EQ(judgement.cause, "overhead");
}

TEST(Judge, DecidesSoonWhenTheDifferenceIsLarge) {
  const auto weighing = testing::weigh_synthetic({.candidate_ratio = 1.5, .blocks = 12});
  EXPECT_FALSE(decided(testing::prefix(weighing, 7)));  // least_blocks
  EXPECT_TRUE(decided(testing::prefix(weighing, 8)));
}

}  // namespace
}  // namespace tare::judge
