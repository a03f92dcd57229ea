#include <gtest/gtest.h>

#include "device/machine.h"

namespace tare::device {
namespace {

TEST(ProcessorTime, NeverGoesBack) {
  const ProcessorTime before = processor_time();
  const ProcessorTime after = processor_time();
  EXPECT_GT(before.busy, 0);
  EXPECT_GE(after.busy, before.busy);
  EXPECT_GE(after.steal, before.steal);
}

}  // namespace
}  // namespace tare::device
