/* Lie: is the incumbent under another name: loads its module and forwards every call. Named by: the identity gate. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "honest.h"

#ifndef TARE_INCUMBENT_MODULE
#define TARE_INCUMBENT_MODULE "onednn.so"
#endif
/* TARE_TEST_INCUMBENT names another module than the built-in one. */
static const tare_arm* incumbent(void) {
  const char* path = getenv("TARE_TEST_INCUMBENT");
  void* module = dlopen(path != NULL ? path : TARE_INCUMBENT_MODULE, RTLD_NOW | RTLD_LOCAL);
  if (module == NULL) return honest_arm_v1(0);
  const tare_arm* (*entry)(uint32_t) = (const tare_arm* (*)(uint32_t))dlsym(module, TARE_ARM_ENTRY);
  return entry != NULL ? entry(0) : honest_arm_v1(0);
}
LIAR("is_the_incumbent", arm = *incumbent(); arm.name = "is_the_incumbent";
     arm.title = "is_the_incumbent")
