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

// Every region's device clock, as a share of the host's and less a launch.
weigh::Weighing on_a_device(double share, double launch) {
  auto weighing = weigh_synthetic({});
  for (Region& region : weighing.regions) region.device_seconds = share * region.seconds - launch;
  return weighing;
}

TEST(ClocksGate, AllowsADeviceALaunch) {
  expect_passes("clocks", on_a_device(1, 15e-6));
}

TEST(ClocksGate, NamesADeviceClockThatSaysMoreThanTheHosts) {
  expect_fails("clocks", on_a_device(1.1, 0), "the device's clock is wrong");
}

TEST(ClocksGate, NamesTimeThatIsNotTheDevices) {
  expect_fails("clocks", on_a_device(0.5, 0), "outside its dispatches");
}

TEST(ClocksGate, HasNothingToSayInProcess) {
  auto weighing = weigh_synthetic({});
  set_regions(weighing, std::nullopt, &Region::outer_seconds, 0.0);
  expect_passes("clocks", weighing);
}

}  // namespace
}  // namespace tare::judge::testing
