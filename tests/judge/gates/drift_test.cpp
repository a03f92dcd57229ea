#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

// Slows an arm down from a block on.
void slow_down(weigh::Weighing& weighing, std::optional<Role> role, std::uint32_t from,
               double factor) {
  for (Region& region : weighing.regions)
    if ((!role || region.arm == *role) && region.block >= from) region.seconds *= factor;
}

TEST(DriftGate, PassesWhenTheRatioStands) {
  expect_passes("drift", weigh_synthetic({}));
}

TEST(DriftGate, RefusesARatioThatMoved) {
  auto weighing = weigh_synthetic({.candidate_ratio = 1.2, .blocks = 60});
  slow_down(weighing, Role::kCandidate, 20, 1.5);
  expect_fails("drift", weighing,
               "it moved while it was weighed (the incumbent's time changed by ");
}

// After eight blocks it is a loss for the game: that it moves must be known by then.
TEST(DriftGate, RefusesAnArmThatTires) {
  auto weighing = weigh_synthetic({.blocks = 8, .noise = kQuiet});
  double factor = 1;
  for (Region& region : weighing.regions)
    if (region.arm == Role::kCandidate) region.seconds *= factor *= 1.01;
  expect_fails("drift", weighing, "it moved while it was weighed;");  // and no time's change of 0 %
}

TEST(DriftGate, NotesTimesThatMoveTogether) {
  auto weighing = weigh_synthetic({.blocks = 30, .noise = kQuiet});
  slow_down(weighing, std::nullopt, 15, 1.3);
  const Finding finding = finding_of("drift", weighing);
  EXPECT_TRUE(finding.passed);
  EXPECT_NE(finding.sentence.find("30 %"), std::string::npos) << finding.sentence;
}

}  // namespace
}  // namespace tare::judge::testing
