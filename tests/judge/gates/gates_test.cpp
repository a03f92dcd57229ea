#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

TEST(Gates, AllPassOnAnHonestWeighing) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Judgement judgement = judge(weigh_synthetic({.seed = seed}));
    EXPECT_EQ(judgement.gates.size(), 15u);
    for (const Finding& finding : judgement.gates)
      EXPECT_TRUE(finding.passed) << "seed " << seed << ' ' << finding.gate << finding.sentence;
  }
}

TEST(Gates, TheFirstThatFailedIsTheCause) {
  auto weighing = weigh_synthetic({.candidate_ratio = 1.3});
  weighing.timer_floor_seconds = 1;
  set_regions(weighing, Role::kCandidate, &Region::outputs, weigh::Outputs::kWrong);
  const Judgement judgement = judge(weighing);
  EXPECT_EQ(judgement.verdict, Verdict::kRefused);
  EXPECT_EQ(judgement.cause, "output");
  EXPECT_EQ(judgement.decision, Decision::kKeep);
}

}  // namespace
}  // namespace tare::judge::testing
