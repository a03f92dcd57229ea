/* Lie: holds eight streams that have worked, in the process in which others are measured. Named by: arm hosts, a process each. */
#define _GNU_SOURCE
#include "device_beside.h"
#include "device_kernel.h"

static const char kNothing[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry planted()\n{\n  ret;\n}\n";

static int crowd(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  int (*make)(void**, unsigned) =
      driver == NULL ? NULL : (int (*)(void**, unsigned))dlsym(driver, "cuStreamCreate");
  if (make == NULL) return 1;
  for (int i = 0; i < 8; ++i) {
    void* stream = NULL;
    const unsigned non_blocking = 1;
    if (make(&stream, non_blocking) != 0 || launch_planted(kNothing, stream) != 0) return 1;
  }
  return wait_for_device();
}

static int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                   size_t why_size) {
  if (honest_device.arm.prepare(problem, slots, executor, why, why_size) != 0) return 1;
  if (crowd() == 0) return 0;
  snprintf(why, why_size, "the streams could not be made");
  return 1;
}
DEVICE_LIAR("gpu_crowds", arm.arm.prepare = prepare)
