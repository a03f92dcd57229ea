/* Lie: captures and instantiates its graph in the timed region, as a first call does. Named by: the clocks gate. */
#define _GNU_SOURCE
#include "device_beside.h"

static tare_region kept;
static tare_dispatch* dispatches;

static int stage(tare_executor* executor, const tare_region* region, char* why, size_t why_size) {
  kept = *region;
  dispatches = realloc(dispatches, region->count * sizeof *dispatches);
  memcpy(dispatches, region->dispatches, region->count * sizeof *dispatches);
  kept.dispatches = dispatches;
  return honest_device.stage(executor, region, why, why_size);
}
static int launch(tare_executor* executor) {
  if (honest_device.stage(executor, &kept, NULL, 0) != 0) return 1;
  return honest_device.launch(executor);
}
DEVICE_LIAR("gpu_graph_inside", arm.stage = stage; arm.launch = launch)
