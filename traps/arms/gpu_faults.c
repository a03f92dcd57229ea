/* No lie: in timed regions its kernel writes to address zero. Named by: the failure of its fence.
 */
#define _GNU_SOURCE
#include "device_beside.h"
#include "device_kernel.h"

static const char kFault[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry planted()\n{\n"
    "  .reg .b64 %rd<2>;\n  .reg .b32 %r<2>;\n"
    "  mov.u64 %rd1, 0;\n  mov.u32 %r1, 1;\n"
    "  st.global.u32 [%rd1], %r1;\n  ret;\n}\n";

static int launch(tare_executor* executor) {
  if (honest_device.launch(executor) != 0) return 1;
  return launch_planted(kFault, NULL);
}
static int fence(tare_executor* executor) {
  return honest_device.arm.fence(executor) != 0 || wait_for_device() != 0;
}
DEVICE_LIAR("gpu_faults", arm.launch = launch; arm.arm.fence = fence)
