/* beside.h: an implementation's module, as it lies beside the lying arms:
 * lib/tare/traps/../modules. */
#ifndef TARE_TRAPS_BESIDE_H
#define TARE_TRAPS_BESIDE_H

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tare/arm.h"

static inline const tare_arm* first_arm_of(void* module) {
  if (module == NULL) return NULL;
  const tare_arm* (*entry)(uint32_t) = (const tare_arm* (*)(uint32_t))dlsym(module, TARE_ARM_ENTRY);
  return entry != NULL ? entry(0) : NULL;
}

/* The first arm of modules/NAME.so; NULL when it is not there. */
static inline const tare_arm* arm_beside(const char* name) {
  Dl_info own;
  char folder[PATH_MAX], path[PATH_MAX + 64];
  if (dladdr((void*)(uintptr_t)tare_arm_v1, &own) == 0) return NULL;
  if (realpath(own.dli_fname, folder) == NULL) return NULL;
  *strrchr(folder, '/') = '\0';
  snprintf(path, sizeof path, "%s/../modules/%s.so", folder, name);
  return first_arm_of(dlopen(path, RTLD_NOW | RTLD_LOCAL));
}

#endif /* TARE_TRAPS_BESIDE_H */
