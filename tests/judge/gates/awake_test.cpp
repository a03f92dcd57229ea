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

TEST(AwakeGate, AnArmOnADeviceIsNotDisturbedOnProcessorsThatAreFree) {
  auto weighing = weigh_synthetic({});
  for (weigh::Arm& arm : weighing.arms) {
    arm.dispatched.threads = 0;
    arm.threads_offered = 16;
  }
  for (Region& region : weighing.regions) {
    region.cpu_seconds = region.seconds;
    region.others_cpu_seconds = 13.9 * region.seconds;
  }
  expect_passes("awake", weighing);
  for (Region& region : weighing.regions) region.others_cpu_seconds = 14.5 * region.seconds;
  expect_fails("awake", weighing, "while the incumbent (Library 1.0) ran");
}

TEST(AwakeGate, ForgivesOneDisturbedBlock) {
  auto weighing = weigh_synthetic({});
  for (Region& region : weighing.regions)
    if (region.block == 3) region.others_cpu_seconds = region.seconds;
  expect_passes("awake", weighing);
}

}  // namespace
}  // namespace tare::judge::testing
