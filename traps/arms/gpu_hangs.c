/* No lie: in timed regions its kernel never ends. Named by: no answer within --patience. */
#define _GNU_SOURCE
#include "device_beside.h"
#include "device_kernel.h"

static const char kEndless[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry planted()\n{\n"
    "  .reg .b32 %r<2>;\n"
    "again:\n  mov.u32 %r1, %clock;\n  nanosleep.u32 1000;\n  bra.uni again;\n}\n";

static int launch(tare_executor* executor) {
  if (honest_device.launch(executor) != 0) return 1;
  return launch_planted(kEndless, NULL);
}
static int fence(tare_executor* executor) {
  return honest_device.arm.fence(executor) != 0 || wait_for_device() != 0;
}
DEVICE_LIAR("gpu_hangs", arm.launch = launch; arm.arm.fence = fence)
