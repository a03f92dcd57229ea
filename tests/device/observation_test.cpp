#include "device/observation.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tare::device {
namespace {

TEST(Observation, NamesHypervisors) {
  EXPECT_EQ(hypervisor_name("KVMKVMKVM"), "KVM");
  EXPECT_EQ(hypervisor_name("Microsoft Hv"), "Hyper-V");
  EXPECT_EQ(hypervisor_name("SomethingNew"), "SomethingNew");
  EXPECT_EQ(hypervisor_name(""), "");
}

TEST(Observation, HoldsAllItsParts) {
  const Observation seen = observe(0.02);
  EXPECT_GE(seen.machine.threads, 1u);
  EXPECT_GE(seen.processors_online, 1u);
  EXPECT_GT(seen.noise.seconds, 0);
  EXPECT_GT(seen.trial.bytes, 0u);
  EXPECT_GE(seen.trial.huge_share, 0);
  EXPECT_LE(seen.trial.huge_share, 1);
}

TEST(Observation, RefusesNoTime) {
  EXPECT_THROW(observe(0), Error);
}

}  // namespace
}  // namespace tare::device
