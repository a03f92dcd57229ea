#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

TEST(AwakeGate, PassesWhenOthersSleep) {
  expect_passes("awake", weigh_synthetic({}));
}

TEST(AwakeGate, NamesTheArmThatSpinsInOthersRegions) {
  auto weighing = weigh_synthetic({});
  for (Region& region : weighing.regions)
    if (region.arm != Role::kCandidate) region.others_cpu_seconds = 0.9 * region.seconds;
  expect_fails("awake", weighing, "while the incumbent (Library 1.0) ran");
  expect_fails("awake", weighing, "quiet only in regions of the candidate (Panel)");
}

TEST(AwakeGate, ForgivesOneDisturbedBlock) {
  auto weighing = weigh_synthetic({});
  for (Region& region : weighing.regions)
    if (region.block == 3) region.others_cpu_seconds = region.seconds;
  expect_passes("awake", weighing);
}

}  // namespace
}  // namespace tare::judge::testing
