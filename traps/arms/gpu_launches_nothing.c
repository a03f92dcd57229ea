/* Lie: launches nothing, and is done at once. Named by: the output gate. */
#define _GNU_SOURCE
#include "device_beside.h"

static int launch(tare_executor* executor) {
  (void)executor;
  return 0;
}
/* The events were never recorded in a first region: what they say is made up. */
static int collect(tare_executor* executor, double* seconds, char* why, size_t why_size) {
  honest_device.collect(executor, seconds, why, why_size);
  *seconds = 1e-6;
  return 0;
}
DEVICE_LIAR("gpu_launches_nothing", arm.launch = launch; arm.collect = collect)
