// What arm hosts inherit: the user's environment, less what hobbles a library.
#include "arms/host_environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "device/machine.h"

namespace tare::arms {
namespace {

bool has(const std::vector<std::string>& environment, const std::string& entry) {
  return std::ranges::find(environment, entry) != environment.end();
}

class HostEnvironment : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("TARE_CPU_ISA");
    // Does not depend on the processor: always on when set.
    setenv("ONEDNN_VERBOSE", "1", 1);
    setenv("SOMEBODYS_VARIABLE", "kept", 1);
  }
  void TearDown() override {
    for (const char* variable : {"TARE_CPU_ISA", "ONEDNN_VERBOSE", "SOMEBODYS_VARIABLE"})
      unsetenv(variable);
  }
};

TEST_F(HostEnvironment, WithoutWhatHobbles) {
  const auto environment = host_environment(3);
  EXPECT_FALSE(has(environment, "ONEDNN_VERBOSE=1"));
  EXPECT_TRUE(has(environment, "SOMEBODYS_VARIABLE=kept"));
  EXPECT_TRUE(has(environment, "OMP_NUM_THREADS=3"));
  const auto withheld = withheld_variables();
  EXPECT_TRUE(std::ranges::any_of(
      withheld, [](const device::Hobble& hobble) { return hobble.variable == "ONEDNN_VERBOSE"; }));
}

TEST_F(HostEnvironment, WhoPlaysASmallerMachineGetsIt) {
  setenv("TARE_CPU_ISA", "avx2", 1);
  EXPECT_TRUE(has(host_environment(1), "ONEDNN_VERBOSE=1"));
  EXPECT_TRUE(withheld_variables().empty());
}

}  // namespace
}  // namespace tare::arms
