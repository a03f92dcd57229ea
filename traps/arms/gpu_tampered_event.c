/* Lie: a third of the time that the device's events measured. Named by: the clocks gate. */
#define _GNU_SOURCE
#include "device_beside.h"

static int collect(tare_executor* executor, double* seconds, char* why, size_t why_size) {
  const int result = honest_device.collect(executor, seconds, why, why_size);
  *seconds /= 3;
  return result;
}
DEVICE_LIAR("gpu_tampered_event", arm.collect = collect)
