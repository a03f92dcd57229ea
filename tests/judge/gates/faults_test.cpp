#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

TEST(FaultsGate, PassesWithAFewFaults) {
  expect_passes("faults", weigh_synthetic({}));
}

TEST(FaultsGate, RefusesMemoryMappedInEveryRegion) {
  auto weighing = weigh_synthetic({});
  set_regions(weighing, Role::kCandidate, &Region::new_mappings, 2u);
  expect_fails("faults", weighing, "2 new mappings");
}

TEST(FaultsGate, RefusesFirstTouches) {
  auto weighing = weigh_synthetic({});
  set_regions(weighing, Role::kCandidate, &Region::page_faults, 500u);
  expect_fails("faults", weighing, "500 page faults");
}

TEST(FaultsGate, ForgivesTheFirstBlock) {
  auto weighing = weigh_synthetic({});
  for (Region& region : weighing.regions)
    if (region.block == 0) region.new_mappings = 5, region.page_faults = 10'000;
  expect_passes("faults", weighing);
}

TEST(FaultsGate, ExpectsThemPerCall) {
  auto weighing = weigh_synthetic({});
  weighing.mode = weigh::Mode::kPerCall;
  set_regions(weighing, Role::kCandidate, &Region::new_mappings, 2u);
  expect_passes("faults", weighing);
}

}  // namespace
}  // namespace tare::judge::testing
