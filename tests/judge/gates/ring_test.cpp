#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

TEST(RingGate, PassesWhenHalvingChangesNothing) {
  expect_passes("ring", weigh_synthetic({}));
}

TEST(RingGate, RefusesAHalfRingThatIsFaster) {
  Plan plan{.half_ring_ratio = 0.7};
  plan.noise.slow_seconds = 0;
  expect_fails("ring", weigh_synthetic(plan), "less time than the whole");
}

TEST(RingGate, RefusesACandidateWhoseHalfRingIsFaster) {
  auto weighing = weigh_synthetic({.candidate_half_ring_ratio = 0.7, .noise = kQuiet});
  expect_fails("ring", weighing, "half of the ring of the candidate (Panel) takes");
}

TEST(RingGate, TheIncumbentsHalfRingsAloneAreEnough) {
  // As files of before have them.
  auto weighing = weigh_synthetic({.candidate_half_ring_ratio = 0.7, .noise = kQuiet});
  std::erase_if(weighing.regions, [](const Region& region) {
    return region.purpose == weigh::Purpose::kHalfRing && region.arm != Role::kIncumbent;
  });
  expect_passes("ring", weighing);
}

TEST(RingGate, EightBlocksAreEnough) {
  // The fewest that are weighed: a gate that needs more never refuses what is decided at once.
  Plan plan{.blocks = Rules{}.least_blocks, .half_ring_ratio = 0.7, .noise = kQuiet};
  expect_fails("ring", weigh_synthetic(plan), "less time than the whole");
  plan.half_ring_ratio = 1.4;
  expect_fails("ring", weigh_synthetic(plan), "more time than the whole");
}

TEST(RingGate, RefusesARingSmallerThanTheCache) {
  auto weighing = weigh_synthetic({});
  arm(weighing, Role::kCandidate).ring_bytes = 20'000'000;
  expect_fails("ring", weighing, "20.0 MB and the last-level cache 32.0 MB");
}

TEST(RingGate, RefusesAnArmThatKeepsMoreOfTheL2ThanOthers) {
  auto weighing = weigh_synthetic({});
  for (weigh::Arm& one : weighing.arms) one.l2_set_aside_bytes = 1'000'000;
  expect_passes("ring", weighing);
  arm(weighing, Role::kCandidate).l2_set_aside_bytes = 32'000'000;
  expect_fails("ring", weighing, "keeps 32.0 MB of the GPU's L2 for lines that persist");
  weighing.residency = weigh::Residency::kHot;
  expect_passes("ring", weighing);
}

TEST(RingGate, HotWeightsAreMeantToBeCached) {
  auto weighing = weigh_synthetic({.half_ring_ratio = 0.7});
  weighing.residency = weigh::Residency::kHot;
  expect_passes("ring", weighing);
}

TEST(RingGate, SaysWhenItCouldNotTell) {
  const Finding finding = finding_of("ring", weigh_synthetic({.half_ring = false}));
  EXPECT_TRUE(finding.passed);
  EXPECT_NE(finding.sentence.find("only 0 pairs"), std::string::npos) << finding.sentence;
}

}  // namespace
}  // namespace tare::judge::testing
