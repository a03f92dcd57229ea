/* An arm on a pretended device whose work faults: its fence fails, and collect() says why. */
#include "honest.h"

static int stage(tare_executor* executor, const tare_region* region, char* why, size_t why_size) {
  (void)executor, (void)region, (void)why, (void)why_size;
  return 0;
}

static int launch(tare_executor* executor) {
  (void)executor;
  return 0;
}

static int faults(tare_executor* executor) {
  (void)executor;
  return 7;
}

static int collect(tare_executor* executor, double* seconds, char* why, size_t why_size) {
  (void)executor, (void)seconds;
  snprintf(why, why_size, "an illegal address was seen");
  return 1;
}

TARE_EXPORT const tare_arm* tare_arm_v1(uint32_t index) {
  static tare_device_arm device;
  device.arm = *honest_arm_v1(0);
  device.arm.flags |= TARE_ON_DEVICE;
  device.arm.name = device.arm.title = "device_that_faults";
  device.arm.fence = faults;
  device.stage = stage;
  device.launch = launch;
  device.collect = collect;
  return index == 0 ? &device.arm : NULL;
}
