#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

TEST(ControlGate, PassesWhenTheIncumbentEqualsItself) {
  expect_passes("control", weigh_synthetic({}));
}

TEST(ControlGate, RefusesAnIncumbentThatDiffersFromItself) {
  expect_fails("control", weigh_synthetic({.control_ratio = 1.10}), "differs from itself");
  expect_fails("control", weigh_synthetic({.control_ratio = 0.90}), "differs from itself");
}

TEST(ControlGate, SaysWhenThereIsNone) {
  const Finding finding = finding_of("control", weigh_synthetic({.control = false}));
  EXPECT_TRUE(finding.passed);
  EXPECT_EQ(finding.sentence, "no control was weighed");
}

TEST(ControlGate, ASmallDeviationWidensTheInterval) {
  const Plan quiet{.control_ratio = 1.005, .candidate_ratio = 1.2, .noise = kQuiet};
  const Judgement judgement = judge(weigh_synthetic(quiet));
  EXPECT_EQ(judgement.verdict, Verdict::kWin) << judgement.cause_sentence;
  EXPECT_GE(judgement.interval.high / judgement.interval.low, 1.005 * 1.005);
  // The ratio to either of the two preparations lies inside.
  EXPECT_LT(judgement.interval.low, 1.2 / 1.005);
  EXPECT_GT(judgement.interval.high, 1.2);
}

}  // namespace
}  // namespace tare::judge::testing
