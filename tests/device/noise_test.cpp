#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "device/machine.h"

namespace tare::device {
namespace {

TEST(Noise, SharesAreShares) {
  const Noise noise = watch(0.05);
  EXPECT_GT(noise.seconds, 0);
  for (const double share : {noise.steal_share, noise.busy_share}) {
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
  }
  EXPECT_GE(noise.spin_p99_ratio, 1);
  EXPECT_LE(noise.busiest.size(), 5u);
}

TEST(Noise, ADurationThatIsNoneIsRefused) {
  for (const double bad : {0.0, -1.0, 1e9, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    try {
      watch(bad);
      ADD_FAILURE() << bad << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.blame(), Blame::kInput);
    }
  }
}

}  // namespace
}  // namespace tare::device
