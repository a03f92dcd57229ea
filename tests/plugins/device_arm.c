/* An arm on a pretended device, which keeps the contract: it works on its own copies of the inputs
 * and the outputs, made in stage(), and y changes on the host only in collect(). Its clock says a
 * nanosecond. */
#include "honest.h"

static const tare_region* staged_as(const tare_region* region) {
  static tare_region copy;
  static tare_dispatch dispatches[64];
  if (region != NULL) {
    copy = *region;
    for (uint64_t i = 0; i < region->count && i < 64; ++i) dispatches[i] = region->dispatches[i];
    copy.dispatches = dispatches;
    copy.inputs = memcpy(malloc(region->input_bytes), region->inputs, region->input_bytes);
  }
  return &copy;
}

static char* device_outputs(const tare_region* region) {
  static char* memory;
  if (region != NULL)
    memory = (char*)memcpy(malloc(region->output_bytes), region->outputs, region->output_bytes);
  return memory;
}

static const char* host_inputs(const tare_region* region) {
  static const char* address;
  if (region != NULL) address = (const char*)region->inputs;
  return address;
}

static int stage(tare_executor* executor, const tare_region* region, char* why, size_t why_size) {
  (void)executor;
  if (region->count > 64) {
    snprintf(why, why_size, "this device holds 64 dispatches");
    return 1;
  }
  host_inputs(region);
  staged_as(region);
  device_outputs(region);
  return 0;
}

static int launch(tare_executor* executor) {
  const tare_region* region = staged_as(NULL);
  for (uint64_t i = 0; i < region->count; ++i) {
    const tare_dispatch* at = &region->dispatches[i];
    const char* x = (const char*)region->inputs + ((const char*)at->x - host_inputs(NULL));
    char* y = device_outputs(NULL) + ((char*)at->y - (char*)region->outputs);
    if (mine_enqueue(executor, at->slot, x, y) != 0) return 1;
  }
  return 0;
}

static int collect(tare_executor* executor, double* seconds, char* why, size_t why_size) {
  (void)executor, (void)why, (void)why_size;
  const tare_region* region = staged_as(NULL);
  memcpy(region->outputs, device_outputs(NULL), region->output_bytes);
  *seconds = 1e-9;
  return 0;
}

TARE_EXPORT const tare_arm* tare_arm_v1(uint32_t index) {
  static tare_device_arm device;
  device.arm = *honest_arm_v1(0);
  device.arm.flags |= TARE_ON_DEVICE;
  device.arm.name = device.arm.title = "device_arm";
  device.stage = stage;
  device.launch = launch;
  device.collect = collect;
  return index == 0 ? &device.arm : NULL;
}
