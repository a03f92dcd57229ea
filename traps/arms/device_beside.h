/* device_beside.h: a GPU arm that lies in one of its functions and is cuBLAS's in all others:
 * modules/cublas.so beside it, whose table is copied and changed. */
#ifndef TARE_TRAPS_DEVICE_BESIDE_H
#define TARE_TRAPS_DEVICE_BESIDE_H

#include "beside.h"

static tare_device_arm honest_device;

/* Another kernel, as far as its record says: the identity gate must not be what names the lie. */
static int lying_record(tare_executor* executor, tare_dispatch_record* record) {
  const int result = honest_device.arm.dispatched(executor, record);
  snprintf(record->kernel, sizeof record->kernel, "%s", "a lie");
  return result;
}

static int not_there(const tare_services* services, char* why, size_t why_size) {
  (void)services;
  snprintf(why, why_size, "modules/cublas.so is not there: this build has no CUDA");
  return 1;
}

/* NAME is the arm's; the statements change `arm`, a tare_device_arm. */
#define DEVICE_LIAR(NAME, ...)                                                             \
  TARE_EXPORT const tare_arm* tare_arm_v1(uint32_t index) {                                \
    static tare_device_arm arm;                                                            \
    const tare_arm* beside = index == 0 && arm.arm.abi == 0 ? arm_beside("cublas") : NULL; \
    if (beside != NULL) {                                                                  \
      honest_device = arm = *(const tare_device_arm*)beside;                               \
      arm.arm.dispatched = lying_record;                                                   \
      __VA_ARGS__;                                                                         \
    }                                                                                      \
    if (arm.arm.abi == 0) {                                                                \
      arm.arm.flags = 0;                                                                   \
      arm.arm.open = not_there;                                                            \
    }                                                                                      \
    arm.arm.abi = TARE_ARM_ABI;                                                            \
    arm.arm.name = arm.arm.title = NAME;                                                   \
    arm.arm.version = "";                                                                  \
    return index == 0 ? &arm.arm : NULL;                                                   \
  }

#endif /* TARE_TRAPS_DEVICE_BESIDE_H */
