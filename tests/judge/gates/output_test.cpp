#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

TEST(OutputGate, PassesWhenRight) {
  expect_passes("output", weigh_synthetic({}));
}

TEST(OutputGate, RefusesWhatTheProofFound) {
  auto weighing = weigh_synthetic({});
  weighing.proof.class_mismatch = 4;
  expect_fails("output", weighing, "4 of 100000");
  weighing.proof.unwritten = 5;
  expect_fails("output", weighing, "left 5 of 100000");
  weighing.proof.wrote_outside = true;
  expect_fails("output", weighing, "wrote past");
}

TEST(OutputGate, RefusesOneWrongTimedRegion) {
  auto weighing = weigh_synthetic({});
  auto region = std::find_if(weighing.regions.begin(), weighing.regions.end(),
                             [](const Region& r) { return r.arm == Role::kCandidate; });
  region->outputs = weigh::Outputs::kWrong;
  expect_fails("output", weighing, "1 timed regions of the candidate (Panel)");
}

TEST(OutputGate, NonFiniteIsFineOnlyWhereTheProofHadIt) {
  auto weighing = weigh_synthetic({});
  set_regions(weighing, std::nullopt, &Region::outputs, weigh::Outputs::kNonFinite);
  expect_fails("output", weighing, "the incumbent");
  weighing.proof.candidate_non_finite = weighing.proof.incumbent_non_finite = 3;
  expect_passes("output", weighing);
}

}  // namespace
}  // namespace tare::judge::testing
