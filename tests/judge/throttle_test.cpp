#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::DeviceState;
using weigh::Region;
using weigh::Role;

constexpr std::uint64_t kPowerCap = 0x4, kIdle = 0x1;

// A device that falls to `mhz` in every third block, for which NVML says `reason`.
void slow_every_third(weigh::Weighing& weighing, std::uint32_t blocks, std::uint32_t mhz,
                      std::uint64_t reason) {
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const bool slow = block % 3 == 0;
    weighing.device_states.push_back(
        DeviceState{0, block, slow ? mhz : 1980, 2619, 60, 500, slow ? reason : 0});
  }
}

void stretch(weigh::Weighing& weighing, std::optional<Role> role, double factor) {
  for (Region& region : weighing.regions)
    if ((!role || region.arm == *role) && region.block % 3 == 0) region.seconds *= factor;
}

TEST(DriftGateOnADevice, PassesWithoutADeviceAndAtFullSpeed) {
  auto weighing = weigh_synthetic({.blocks = 45});
  expect_passes("drift", weighing);
  slow_every_third(weighing, 45, 1965, kIdle);
  expect_passes("drift", weighing);
}

TEST(DriftGateOnADevice, AcceptsASlowdownThatHitsBothAlike) {
  auto weighing = weigh_synthetic({.candidate_ratio = 1.3, .blocks = 45, .noise = kQuiet});
  slow_every_third(weighing, 45, 1200, kPowerCap);
  stretch(weighing, std::nullopt, 1.5);
  expect_passes("drift", weighing);
}

TEST(DriftGateOnADevice, RefusesARatioThatASlowdownChanges) {
  auto weighing = weigh_synthetic({.candidate_ratio = 1.3, .blocks = 45, .noise = kQuiet});
  slow_every_third(weighing, 45, 1200, kPowerCap);
  stretch(weighing, Role::kIncumbent, 1.5);
  stretch(weighing, Role::kControl, 1.5);
  expect_fails("drift", weighing, "15 of 45 blocks");
}

// A clock that fell without a reason is a fall all the same.
TEST(DriftGateOnADevice, GoesByTheClockWhereNoReasonIsGiven) {
  auto weighing = weigh_synthetic({.blocks = 45, .noise = kQuiet});
  slow_every_third(weighing, 45, 1200, 0);
  stretch(weighing, Role::kCandidate, 1.2);
  expect_fails("drift", weighing, "1200 to 1980 MHz");
}

}  // namespace
}  // namespace tare::judge::testing
