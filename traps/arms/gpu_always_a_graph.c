/* Lie: launches a graph where all others launch call by call. Named by: a dispatch win, which is not served. */
#define _GNU_SOURCE
#include "device_beside.h"

static int stage(tare_executor* executor, const tare_region* region, char* why, size_t why_size) {
  tare_region graph = *region;
  graph.flags &= ~TARE_REGION_STREAM;
  return honest_device.stage(executor, &graph, why, why_size);
}
DEVICE_LIAR("gpu_always_a_graph", arm.stage = stage)
