// The table of an arm on a device: arm_table.h's, and the three functions that only such an arm
// has.
#pragma once

#include "arm_table.h"

namespace tare::modules {

// Beside what arm_table() asks for, an Executor has
//   void stage(const tare_region&), double collect(): may throw;
//   bool launch() noexcept: the timed path, false for a failure.
template <typename Executor>
tare_device_arm device_arm_table(Identity identity, const Beginning& beginning) {
  identity.flags |= TARE_ON_DEVICE;
  return {
      .arm = arm_table<Executor>(identity, beginning),
      .stage =
          [](Executor* executor, const tare_region* region, char* why, size_t why_size) {
            return fenced(why, why_size, [&] { executor->stage(*region); });
          },
      .launch = [](Executor* executor) { return executor->launch() ? 0 : 1; },
      .collect =
          [](Executor* executor, double* seconds, char* why, size_t why_size) {
            return fenced(why, why_size, [&] { *seconds = executor->collect(); });
          },
  };
}

}  // namespace tare::modules
