#include "tests/judge/gates/gate_test.h"

namespace tare::judge::testing {
namespace {

using weigh::Region;
using weigh::Role;

TEST(LimitGate, PassesAboveTheFloor) {
  expect_passes("limit", weigh_synthetic({}));
}

TEST(LimitGate, PassesAtTheFloorItself) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u})
    expect_passes("limit", weigh_synthetic({.stream_share = 1, .peak_share = 1, .seed = seed}));
}

TEST(LimitGate, RefusesFasterThanStreaming) {
  expect_fails("limit", weigh_synthetic({.candidate_ratio = 1.6}), "reading its weights once");
}

TEST(LimitGate, RefusesFasterThanThePeak) {
  expect_fails("limit", weigh_synthetic({.candidate_ratio = 1.2, .peak_share = 1}),
               "multiply-adds");
}

TEST(LimitGate, HasNothingToSayWithoutLimits) {
  expect_passes("limit",
                weigh_synthetic({.candidate_ratio = 1.6, .stream_share = 0, .peak_share = 0}));
}

}  // namespace
}  // namespace tare::judge::testing
