/* Lie: its fence does not wait for the GPU. Named by: the clocks gate. */
#define _GNU_SOURCE
#include "device_beside.h"

/* One that waits is needed where outputs are on the host: the opening dispatch. */
static int launched;
static int launch(tare_executor* executor) {
  launched = 1;
  return honest_device.launch(executor);
}
static int fence(tare_executor* executor) {
  const int awaited = !launched;
  launched = 0;
  return awaited ? honest_device.arm.fence(executor) : 0;
}
DEVICE_LIAR("gpu_unawaited", arm.launch = launch; arm.arm.fence = fence)
