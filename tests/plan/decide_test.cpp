// From judged rows to decisions.
#include "plan/decide.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/plan/fixture.h"

namespace tare::plan {
namespace {

using judge::Equality;
using testing::HasSubstr;

report::Row win(std::uint64_t differing) {
  return fixture::results(differing).rows.front();
}

TEST(Decide, ServesAWinWithTheIncumbentsBits) {
  const Decision decision = decide(win(0), Equality::kIncumbent, true);
  EXPECT_EQ(decision.decision, judge::Decision::kServe);
  EXPECT_EQ(decision.reason, "");
  EXPECT_EQ(decision.problem.k, 1536u);
  EXPECT_EQ(decision.problem.rows, 1u);
  EXPECT_NEAR(decision.ratio, 150. / 120., 0.01);
  EXPECT_EQ(decision.incumbent.arm, "onednn");
}

TEST(Decide, OtherBitsAreATradeThatSaysWhy) {
  const Decision decision = decide(win(3), Equality::kIncumbent, true);
  EXPECT_EQ(decision.decision, judge::Decision::kTrade);
  EXPECT_THAT(decision.reason, HasSubstr("its bits differ from the incumbent's in 3 of "));
}

TEST(Decide, OtherBitsWithErrorsNoWorseAreServedWhereThatWasAskedFor) {
  report::Row row = win(3);
  row.weighing.proof.oracle_elements = 256;
  row.weighing.proof.incumbent_error_max = row.weighing.proof.candidate_error_max = 2;
  row.weighing.proof.incumbent_error_rms = 0.5;
  row.weighing.proof.candidate_error_rms = 0.4;
  EXPECT_EQ(decide(row, Equality::kBounded, true).decision, judge::Decision::kServe);
  row.weighing.proof.candidate_error_rms = 0.7;
  EXPECT_EQ(decide(row, Equality::kBounded, true).decision, judge::Decision::kTrade);
  EXPECT_THAT(decide(row, Equality::kBounded, true).reason, HasSubstr("rms 0.7, where 0."));
  row.weighing.proof.candidate_error_rms = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(decide(row, Equality::kBounded, true).decision, judge::Decision::kTrade);
  row.weighing.proof.candidate_error_rms = 0;
  row.weighing.proof.oracle_elements = 0;
  EXPECT_EQ(decide(row, Equality::kBounded, true).decision, judge::Decision::kKeep);
}

TEST(Decide, NothingUnsoundIsServedHoweverFast) {
  for (const auto break_it :
       {+[](weigh::Proof& p) { p.done = false; }, +[](weigh::Proof& p) { p.wrote_outside = true; },
        +[](weigh::Proof& p) { p.unwritten = 1; }, +[](weigh::Proof& p) { p.class_mismatch = 1; },
        +[](weigh::Proof& p) { p.candidate_non_finite = 1; }}) {
    report::Row row = win(0);
    break_it(row.weighing.proof);
    EXPECT_EQ(decide(row, Equality::kIncumbent, true).decision, judge::Decision::kKeep);
    EXPECT_EQ(decide(row, Equality::kBounded, true).decision, judge::Decision::kKeep);
  }
}

TEST(Decide, KeepsAWinThatMayBeLuckAmongMany) {
  const Decision decision = decide(win(0), Equality::kIncumbent, false);
  EXPECT_EQ(decision.decision, judge::Decision::kKeep);
  EXPECT_THAT(decision.reason, HasSubstr("luck"));
}

TEST(Decide, KeepsAWinThatIsACostPerDispatchAsTheTableDoes) {
  report::Row row = win(0);
  row.judgement.dispatch_win = true;
  const Decision decision = decide(row, Equality::kIncumbent, true);
  EXPECT_EQ(decision.decision, judge::Decision::kKeep);
  EXPECT_THAT(decision.reason, HasSubstr("cost per dispatch"));
  EXPECT_EQ(decide(row, Equality::kIncumbent, true, DispatchWins::kServe).decision,
            judge::Decision::kServe);
}

TEST(Decide, KeepsWhatDoesNotWin) {
  const Decision loss = decide(fixture::results().rows.back(), Equality::kBounded, true);
  EXPECT_EQ(loss.decision, judge::Decision::kKeep);
  EXPECT_THAT(loss.reason, HasSubstr("slower"));
  report::Row failed = report::samples::failed_row("it crashed");
  const Decision broken = decide(failed, Equality::kBounded, true);
  EXPECT_EQ(broken.decision, judge::Decision::kKeep);
  EXPECT_THAT(broken.reason, HasSubstr("it crashed"));
}

TEST(MakePlan, HoldsOnToTheModulesItRestsOnAndToTheSamples) {
  const report::Results run = fixture::results();
  const Plan plan = make_plan(run);
  ASSERT_EQ(plan.decisions.size(), 2u);
  ASSERT_EQ(plan.keys.modules.size(), 2u);  // MLX, OpenBLAS and limits have no part in it
  EXPECT_EQ(plan.keys.modules[0].arm, "onednn");
  EXPECT_EQ(plan.keys.modules[1].digest, "tare_cpu's digest");
  EXPECT_EQ(plan.decisions[0].samples.size(), 32u);
  EXPECT_NE(plan.decisions[0].samples, plan.decisions[1].samples);
  EXPECT_EQ(plan.keys.processor, "AMD EPYC 9R14");
}

TEST(MakePlan, OneDecisionForProjectionsOfOneShape) {
  report::Results run = fixture::results();
  run.rows.push_back(run.rows.front());
  run.rows.back().projection = "gate";
  const Plan plan = make_plan(run);
  ASSERT_EQ(plan.decisions.size(), 2u);
  EXPECT_EQ(plan.decisions[0].projection, "q/o/gate");
}

TEST(MakePlan, RefusesRunsThatCannotVouch) {
  report::Results old = fixture::results();
  for (report::Library& library : old.header.libraries) library.module.clear();
  EXPECT_THROW(make_plan(old), Error);
  report::Results damaged = fixture::results();
  damaged.complaints = {"line 2 was changed"};
  EXPECT_THROW(make_plan(damaged), Error);
  report::Results empty = fixture::results();
  empty.rows.clear();
  EXPECT_THROW(make_plan(empty), Error);
}

}  // namespace
}  // namespace tare::plan
