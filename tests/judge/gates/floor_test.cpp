#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

TEST(FloorGate, PassesWellAboveTheTimer) {
  expect_passes("floor", weigh_synthetic({}));
}

TEST(FloorGate, RefusesShortRegionsAndIsCuredByTraffic) {
  auto weighing = weigh_synthetic({});
  weighing.timer_floor_seconds = 1e-3;  // rounds take 1.2 ms
  expect_fails("floor", weighing, "raise --traffic");
  EXPECT_TRUE(finding_of("floor", weighing).curable_by_traffic);
}

TEST(FloorGate, HasNothingToSayWithoutAFloor) {
  auto weighing = weigh_synthetic({});
  weighing.timer_floor_seconds = 0;
  expect_passes("floor", weighing);
}

}  // namespace
}  // namespace tare::judge::testing
