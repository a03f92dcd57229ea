#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

TEST(ClocksGate, PassesWhenBothAgree) {
  expect_passes("clocks", weigh_synthetic({}));
}

TEST(ClocksGate, NamesAnArmThatReportsLessThanItTook) {
  auto weighing = weigh_synthetic({});
  for (Region& region : weighing.regions)
    if (region.arm == Role::kCandidate) region.seconds /= 2;
  expect_fails("clocks", weighing, "the candidate (Panel)");
}

TEST(ClocksGate, NamesAnArmThatReportsMoreThanSurroundsIt) {
  auto weighing = weigh_synthetic({});
  for (Region& region : weighing.regions)
    if (region.arm == Role::kIncumbent) region.outer_seconds = 0.9 * region.seconds;
  expect_fails("clocks", weighing, "surrounds it");
}

TEST(ClocksGate, HasNothingToSayInProcess) {
  auto weighing = weigh_synthetic({});
  set_regions(weighing, std::nullopt, &Region::outer_seconds, 0.0);
  expect_passes("clocks", weighing);
}

}  // namespace
}  // namespace tare::judge::testing
