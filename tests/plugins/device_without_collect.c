/* Says that it runs on a device and has no collect(): refused when it is loaded. */
#include "honest.h"

static int stage(tare_executor* executor, const tare_region* region, char* why, size_t why_size) {
  (void)executor, (void)region, (void)why, (void)why_size;
  return 0;
}

TARE_EXPORT const tare_arm* tare_arm_v1(uint32_t index) {
  static tare_device_arm device;
  device.arm = *honest_arm_v1(0);
  device.arm.flags |= TARE_ON_DEVICE;
  device.stage = stage;
  return index == 0 ? &device.arm : NULL;
}
