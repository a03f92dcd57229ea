#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

TEST(PagesGate, PassesWhenEqual) {
  expect_passes("pages", weigh_synthetic({}));
}

TEST(PagesGate, RefusesHugePagesOnOneSide) {
  auto weighing = weigh_synthetic({});
  arm(weighing, Role::kCandidate).huge_page_share = 0.5;
  expect_fails("pages", weighing, "50 % of the ring of the candidate (Panel)");
}

TEST(PagesGate, NoHugePagesForAnyoneIsFine) {
  auto weighing = weigh_synthetic({});
  for (weigh::Arm& each : weighing.arms) each.huge_page_share = 0;
  expect_passes("pages", weighing);
}

}  // namespace
}  // namespace tare::judge::testing
