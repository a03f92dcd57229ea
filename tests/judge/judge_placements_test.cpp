// What several placements, and several rows, say together.
#include <gtest/gtest.h>

#include <cmath>

#include "judge/judge.h"
#include "tests/judge/synthetic.h"

namespace tare::judge {
namespace {

using testing::kQuiet;
using testing::Plan;
using weigh::Role;

weigh::Weighing weighed_twice(double first, double second, const std::string& set_aside = "") {
  Plan plan{.candidate_ratio = first, .seed = 1};
  weigh::Weighing weighing = testing::weigh_synthetic(plan);
  plan.candidate_ratio = second;
  plan.seed = 2;
  testing::weigh_again(plan, weighing, set_aside);
  return weighing;
}

TEST(Placements, ThatDisagreeDecideNothing) {
  const Judgement judgement = judge(weighed_twice(1.2, 0.85));
  EXPECT_EQ(judgement.verdict, Verdict::kInconclusive) << judgement.cause_sentence;
  EXPECT_EQ(judgement.decision, Decision::kKeep);
  EXPECT_EQ(judgement.placements, 2u);
  EXPECT_EQ(judgement.blocks, 60u);
  EXPECT_LT(judgement.interval.low, 0.85);
  EXPECT_GT(judgement.interval.high, 1.2);
  EXPECT_NEAR(judgement.ratio, std::sqrt(1.2 * 0.85), 0.02);
  EXPECT_NEAR(judgement.placement_spread, 1.2 / 0.85, 0.03);
}

TEST(Placements, ThatAgreeWinWithTheEvidenceOfAll) {
  const weigh::Weighing both = weighed_twice(1.2, 1.2);
  const Judgement judgement = judge(both);
  EXPECT_EQ(judgement.verdict, Verdict::kWin) << judgement.cause_sentence;
  weigh::Weighing first = both, second = both;
  first.placements[1].set_aside = "control";
  second.placements[0].set_aside = "control";
  EXPECT_NEAR(judgement.log_evidence, judge(first).log_evidence + judge(second).log_evidence, 1e-9);
}

TEST(Placements, SetAsideDoNotCount) {
  const Judgement judgement = judge(weighed_twice(0.85, 1.2, "control"));
  EXPECT_EQ(judgement.verdict, Verdict::kWin) << judgement.cause_sentence;
  EXPECT_EQ(judgement.placements, 1u);
  EXPECT_EQ(judgement.blocks, 30u);
  EXPECT_EQ(judgement.placement_spread, 1);
  EXPECT_GT(judgement.interval.low, 1);
}

TEST(Placements, AllSetAsideKnowNothing) {
  weigh::Weighing weighing = weighed_twice(1.2, 1.2, "control");
  weighing.placements[1].set_aside = "drift";
  const Judgement judgement = judge(weighing);
  EXPECT_EQ(judgement.verdict, Verdict::kInconclusive);
  EXPECT_EQ(judgement.ratio, 0);
  EXPECT_EQ(judgement.blocks, 0u);
}

TEST(Placements, AGateThatFailsOnAnyOfThemRefuses) {
  weigh::Weighing weighing = weighed_twice(1.2, 1.2);
  for (weigh::Region& region : weighing.regions)
    if (region.placement == 0 && region.arm == Role::kCandidate)
      region.outputs = weigh::Outputs::kWrong;
  EXPECT_EQ(judge(weighing).cause, "output");
}

TEST(Placements, AWinOrALossIsUnconfirmedUntilItWasFoundAsOftenAsAsked) {
  const Rules rules{.verdict_placements = 2};
  const Judgement once = judge(testing::weigh_synthetic({.candidate_ratio = 1.2}), rules);
  EXPECT_TRUE(once.unconfirmed);
  EXPECT_EQ(once.verdict, Verdict::kInconclusive);
  EXPECT_EQ(once.decision, Decision::kKeep);
  const Judgement twice = judge(weighed_twice(1.2, 1.2), rules);
  EXPECT_FALSE(twice.unconfirmed);
  EXPECT_EQ(twice.verdict, Verdict::kWin) << twice.cause_sentence;
  // One process may be slow by luck: a loss is confirmed, too.
  const Plan loss{.candidate_ratio = 0.8, .stream_share = 0.5};
  EXPECT_TRUE(judge(testing::weigh_synthetic(loss), rules).unconfirmed);
  EXPECT_EQ(judge(testing::weigh_synthetic(loss), rules).verdict, Verdict::kInconclusive);
}

TEST(Placements, AWinNoLargerThanThePlacementsScatterIsWeighedOnMoreOfThem) {
  const Rules rules{.verdict_placements = 2, .most_placements = 4};
  weigh::Weighing weighing = weighed_twice(1.2, 1.05);
  const Judgement twice = judge(weighing, rules);
  EXPECT_TRUE(twice.within_luck);
  EXPECT_TRUE(twice.unconfirmed);
  EXPECT_EQ(twice.verdict, Verdict::kInconclusive);
  EXPECT_LT(twice.verdict_interval.low, 1);
  testing::weigh_again({.candidate_ratio = 1.5, .stream_share = 0.5}, weighing);
  testing::weigh_again({.candidate_ratio = 1.1, .stream_share = 0.5}, weighing);
  const Judgement four_times = judge(weighing, rules);
  EXPECT_TRUE(four_times.within_luck);
  EXPECT_FALSE(four_times.unconfirmed) << "four are the most";
  EXPECT_EQ(four_times.verdict, Verdict::kInconclusive);
}

TEST(Placements, AnEquivalenceIsConfirmedToo) {
  const Rules rules{.verdict_placements = 2, .equivalence_placements = 2, .most_placements = 4};
  const Plan plan{.blocks = 60, .noise = kQuiet};
  const Judgement once = judge(testing::weigh_synthetic(plan), rules);
  EXPECT_EQ(once.verdict, Verdict::kInconclusive);
  EXPECT_TRUE(once.unconfirmed);
  EXPECT_FALSE(once.within_luck);
  EXPECT_EQ(judge(testing::weigh_synthetic(plan), Rules{}).verdict, Verdict::kEquivalent)
      << "as in files of before";
}

TEST(Placements, AnEquivalenceMustHoldWhateverLuckLeavesOpen) {
  const Rules rules{.verdict_placements = 2, .equivalence_placements = 2, .most_placements = 4};
  const auto weighed = [&](std::vector<double> ratios) {
    weigh::Weighing weighing;
    for (std::uint64_t i = 0; i < ratios.size(); ++i) {
      const Plan plan{.candidate_ratio = ratios[i], .blocks = 120, .noise = kQuiet, .seed = i + 1};
      if (i == 0)
        weighing = testing::weigh_synthetic(plan);
      else
        testing::weigh_again(plan, weighing);
    }
    return judge(weighing, rules);
  };
  // Spread by luck: 0.5 % and -0.5 % are each called equivalent, and the truth may be 1.1 %.
  const Judgement scattered = weighed({1.005, 0.995});
  EXPECT_TRUE(scattered.within_luck);
  EXPECT_TRUE(scattered.unconfirmed);
  EXPECT_EQ(scattered.verdict, Verdict::kInconclusive);
  EXPECT_GT(scattered.verdict_interval.high, 1.01);
  EXPECT_FALSE(weighed({1.005, 0.995, 1.005, 0.995}).unconfirmed) << "four are the most";
  // Alike: what luck leaves open lies within 1 %.
  const Judgement alike = weighed({1.0002, 0.9998});
  EXPECT_EQ(alike.verdict, Verdict::kEquivalent) << alike.verdict_interval.high;
  EXPECT_FALSE(alike.within_luck || alike.unconfirmed);
}

TEST(Placements, WeighingStopsWhenTheLastOneHasDecided) {
  weigh::Weighing weighing = testing::weigh_synthetic({.candidate_ratio = 1.2});
  EXPECT_TRUE(decided(weighing));
  testing::weigh_again({.candidate_ratio = 1.2, .blocks = 3}, weighing);
  EXPECT_FALSE(decided(weighing));
}

// t = c + s: 40 + 60 us against 20 + 60 us is a gain per dispatch; against 40 + 40 us it is not.
TEST(Judge, AGainPerDispatchIsNotServed) {
  Plan plan{.incumbent = {100e-6, 20e-6, 40e-6},
            .candidate_ratio = 1.25,
            .candidate_dispatch_cost = 20e-6,
            .noise = kQuiet};
  const Judgement cheaper = judge(testing::weigh_synthetic(plan));
  EXPECT_EQ(cheaper.verdict, Verdict::kWin) << cheaper.cause_sentence;
  EXPECT_TRUE(cheaper.dispatch_win);
  EXPECT_EQ(cheaper.decision, Decision::kKeep);
  plan.candidate_dispatch_cost = 40e-6;
  const Judgement faster = judge(testing::weigh_synthetic(plan));
  EXPECT_FALSE(faster.dispatch_win);
  EXPECT_EQ(faster.decision, Decision::kServe);
  plan.candidate_ratio = 1.5;
  plan.candidate_dispatch_cost = 10e-6;  // 30 of the 33 us gained, and s is better, too
  EXPECT_TRUE(judge(testing::weigh_synthetic(plan)).dispatch_win);
  plan.candidate_ratio = 1.25;
  plan.candidate_dispatch_cost = 20e-6;
  plan.slices = false;  // then nothing tells c from s
  EXPECT_FALSE(judge(testing::weigh_synthetic(plan)).dispatch_win);
}

// The floor's own memory may be slow; what it read elsewhere it can read.
TEST(Judge, TheLimitIsTheFastestOfAllPlacements) {
  Plan plan{.stream_share = 0.8, .noise = kQuiet};
  auto weighing = testing::weigh_synthetic(plan);
  plan.stream_share = 1.2;
  testing::weigh_again(plan, weighing);
  EXPECT_NEAR(judge(weighing, {.limit_of_all_placements = true}).gap, 1 / 0.8, 0.02);
  EXPECT_NEAR(judge(weighing).gap, 1 / 1.2, 0.02) << "as files of before were judged";
}

// What no way of calling costs is the kernel's: a GPU's slice walks all of k, however thin it is.
TEST(Judge, AGainBeyondWhatCallingMayCostIsTheKernels) {
  const auto weighing = testing::weigh_synthetic({.incumbent = {100e-6, 20e-6, 90e-6},
                                                  .candidate_ratio = 2,
                                                  .candidate_dispatch_cost = 10e-6,
                                                  .stream_share = 0.1,
                                                  .noise = kQuiet});
  EXPECT_TRUE(judge(weighing, {.dispatch_costs_by_slice = true}).dispatch_win);
  const Judgement judgement =
      judge(weighing, {.dispatch_costs_by_slice = true, .calling_cost_at_most = 40e-6});
  EXPECT_FALSE(judgement.dispatch_win);
  EXPECT_EQ(judgement.decision, Decision::kServe) << judgement.cause_sentence;
  EXPECT_TRUE(judge(weighing, {.dispatch_costs_by_slice = true, .calling_cost_at_most = 100e-6})
                  .dispatch_win);
}

// In every other block all slices cost 25 us more a dispatch: 40 or 65 us against 20 or 45 us. Of
// either arm alone that says nothing; in every block the difference is 20 us.
TEST(Judge, AGainPerDispatchIsSeenThroughWhatDisturbsBothArms) {
  weigh::Weighing weighing = testing::weigh_synthetic({.incumbent = {100e-6, 20e-6, 40e-6},
                                                       .candidate_ratio = 1.25,
                                                       .candidate_dispatch_cost = 20e-6,
                                                       .noise = kQuiet});
  for (weigh::Region& region : weighing.regions) {
    const bool of_slice = region.purpose == weigh::Purpose::kSliceMany ||
                          region.purpose == weigh::Purpose::kSliceTwice;
    if (of_slice && region.block % 2 == 1)
      region.seconds += 25e-6 * static_cast<double>(region.dispatches);
  }
  const Judgement judgement = judge(weighing, {.dispatch_costs_by_slice = true});
  ASSERT_EQ(judgement.verdict, Verdict::kWin) << judgement.cause_sentence;
  const Interval incumbent = judgement.fits.at(weigh::Role::kIncumbent).dispatch_cost_interval;
  const Interval candidate = judgement.fits.at(weigh::Role::kCandidate).dispatch_cost_interval;
  EXPECT_LT(incumbent.low, candidate.high);
  EXPECT_TRUE(judgement.dispatch_win);
  EXPECT_TRUE(judge(weighing, {.dispatch_costs_by_block = true}).dispatch_win);
  EXPECT_FALSE(judge(weighing).dispatch_win) << "as files of before were judged";
}

TEST(Judge, ACostInSomeRegionsStandsInTheTail) {
  const Judgement judgement = judge(testing::weigh_synthetic(
      {.intermittent_share = 0.2, .intermittent_cost = 0.5, .noise = kQuiet}));
  EXPECT_NEAR(judgement.mean_ratio, 1 / 1.1, 0.05);
  EXPECT_NEAR(judgement.tail_ratio, 1 / 1.5, 0.01);
}

TEST(Judge, MoreTimeOfTheSizeItAsksForDecides) {
  int asked = 0, decided_later = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Plan plan{.candidate_ratio = 1.006, .blocks = 8, .seed = seed};
    const Judgement judgement = judge(testing::weigh_synthetic(plan));
    if (judgement.verdict != Verdict::kInconclusive) {
      EXPECT_EQ(judgement.seconds_to_decide, 0) << seed;
      continue;
    }
    if (!(judgement.seconds_to_decide > 0)) continue;
    ++asked;
    const double factor = 1 + judgement.seconds_to_decide / judgement.weighed_seconds;
    plan.blocks = static_cast<std::uint32_t>(std::min(400.0, std::ceil(2 * factor * plan.blocks)));
    decided_later +=
        judge(testing::weigh_synthetic(plan)).verdict != Verdict::kInconclusive ? 1 : 0;
  }
  EXPECT_GT(asked, 0);
  EXPECT_GE(2 * decided_later, asked) << "seeds 1 to 30";
}

// Of rows whose e-values these are, all of them wins; 0: a row that did not win.
std::vector<bool> stand(const std::vector<double>& evidence, std::size_t rows = 0) {
  std::vector<std::optional<double>> wins;
  for (const double value : evidence)
    wins.push_back(value > 0 ? std::optional(std::log(value)) : std::nullopt);
  return stand_together(wins, rows, 0.1);
}

// Wang and Ramdas, "False discovery rate control with e-values" (JRSS B 84, 2022), section 4: of K
// e-values in falling order reject the first k*, the largest k with k e[k] / K >= 1 / rate.
TEST(Together, IsTheRuleOfBenjaminiAndHochbergForEValues) {
  // K = 4 at 10 %: the k-th largest must reach 40, 20, 13.3, 10.
  EXPECT_EQ(stand({14, 41, 1, 25}), (std::vector<bool>{true, true, false, true}));
  EXPECT_EQ(stand({13, 41, 1, 25}), (std::vector<bool>{false, true, false, true}));
  // A larger one is claimed though it would not be alone: all four at 11 reach 10.
  EXPECT_EQ(stand({11, 11, 11, 11}), (std::vector<bool>{true, true, true, true}));
  EXPECT_EQ(stand({9, 9, 9, 9}), (std::vector<bool>{false, false, false, false}));
}

TEST(Together, RowsThatDidNotWinCountAsRowsAndClaimNothing) {
  EXPECT_EQ(stand({0, 19}), (std::vector<bool>{false, false}));
  EXPECT_EQ(stand({0, 21}), (std::vector<bool>{false, true}));
  EXPECT_TRUE(stand({}).empty());
}

// As if they were there and said nothing: K is 4, and the largest must reach 40.
TEST(Together, RowsToComeCountAsRows) {
  EXPECT_EQ(stand({39}, 4), (std::vector<bool>{false}));
  EXPECT_EQ(stand({41}, 4), (std::vector<bool>{true}));
  EXPECT_EQ(stand({39, 21}, 4), (std::vector<bool>{true, true}));
}

}  // namespace
}  // namespace tare::judge
