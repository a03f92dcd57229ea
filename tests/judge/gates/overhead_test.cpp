#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

TEST(OverheadGate, PassesWhenAmortised) {
  expect_passes("overhead", weigh_synthetic({}));
}

TEST(OverheadGate, RefusesALargeShareAndIsCuredByTraffic) {
  const auto weighing =
      weigh_synthetic({.incumbent = {100e-6, 0}, .candidate_per_region = 4e-3, .noise = kQuiet});
  expect_fails("overhead", weighing, "14 % of a region of the candidate (Panel)");
  expect_fails("overhead", weighing, "a = 4.00 ms of 28.0 ms");
  EXPECT_TRUE(finding_of("overhead", weighing).curable_by_traffic);
}

TEST(OverheadGate, NamesTheWorseOfBoth) {
  const auto weighing =
      weigh_synthetic({.incumbent = {100e-6, 8e-3}, .candidate_per_region = 4e-3});
  expect_fails("overhead", weighing, "the incumbent (Library 1.0)");
}

TEST(OverheadGate, RefusesOneLength) {
  const auto weighing =
      weigh_synthetic({.long_dispatches = 1, .round_dispatches = 1, .slices = false});
  expect_fails("overhead", weighing, "not identifiable; raise --traffic to 8e+06");
}

TEST(OverheadGate, RefusesWhatNoiseHides) {
  Noise noise;
  noise.jitter = 0.8;
  expect_fails("overhead",
               weigh_synthetic({.round_dispatches = 120, .slices = false, .noise = noise}),
               "not identifiable in this noise");
}

TEST(OverheadGate, WaitsForBlocks) {
  const Finding finding = finding_of("overhead", weigh_synthetic({.blocks = 3}));
  EXPECT_TRUE(finding.passed);
  EXPECT_NE(finding.sentence, "");
}

}  // namespace
}  // namespace tare::judge::testing
