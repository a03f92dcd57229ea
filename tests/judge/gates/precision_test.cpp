#include "tests/judge/gates/gate_test.h"

#include <cmath>
#include <limits>

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

TEST(PrecisionGate, PassesForSumsInF32) {
  auto weighing = weigh_synthetic({});
  weighing.proof.candidate_error_max = 0.9;
  weighing.proof.candidate_error_rms = 0.3;
  expect_passes("precision", weighing);
}

TEST(PrecisionGate, RefusesSumsInBf16) {
  auto weighing = weigh_synthetic({});
  weighing.proof.candidate_error_rms = 3.5;
  expect_fails("precision", weighing, "3.5 bf16 steps");
}

TEST(PrecisionGate, RefusesOneWrongElement) {
  auto weighing = weigh_synthetic({});
  weighing.proof.candidate_error_max = 40;
  expect_fails("precision", weighing, "at most 40");
}

TEST(PrecisionGate, RefusesNaN) {
  auto weighing = weigh_synthetic({});
  weighing.proof.candidate_error_rms = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(finding_of("precision", weighing).passed);
}

TEST(PrecisionGate, AnInaccurateIncumbentSetsTheMeasure) {
  auto weighing = weigh_synthetic({});
  weighing.proof.incumbent_error_rms = weighing.proof.candidate_error_rms = 3.5;
  weighing.proof.incumbent_error_max = weighing.proof.candidate_error_max = 20;
  expect_passes("precision", weighing);
}

TEST(PrecisionGate, SaysWhenThereWasNoOracle) {
  auto weighing = weigh_synthetic({});
  weighing.proof.oracle_elements = 0;
  EXPECT_NE(finding_of("precision", weighing).sentence, "");
}

}  // namespace
}  // namespace tare::judge::testing
