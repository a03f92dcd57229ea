#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

TEST(ThreadsGate, PassesWhenEqual) {
  expect_passes("threads", weigh_synthetic({}));
}

TEST(ThreadsGate, RefusesUnequalOffers) {
  auto weighing = weigh_synthetic({});
  arm(weighing, Role::kCandidate).threads_offered = 4;
  expect_fails("threads", weighing, "was offered 4 threads, the incumbent 2");
}

TEST(ThreadsGate, RefusesMoreThreadsThanOffered) {
  auto weighing = weigh_synthetic({});
  arm(weighing, Role::kCandidate).dispatched.threads = 8;
  expect_fails("threads", weighing, "ran 8 threads where 2 were offered");
}

TEST(ThreadsGate, RefusesProcessorTimeOfMoreThreads) {
  auto weighing = weigh_synthetic({});
  for (Region& region : weighing.regions)
    if (region.arm == Role::kCandidate) region.cpu_seconds = 3.9 * region.seconds;
  expect_fails("threads", weighing, "used 3.90 processors");
}

TEST(ThreadsGate, FewerThreadsAreTheArmsOwnLoss) {
  auto weighing = weigh_synthetic({});
  arm(weighing, Role::kCandidate).dispatched.threads = 1;
  expect_passes("threads", weighing);
}

}  // namespace
}  // namespace tare::judge::testing
