/* Lie: is the incumbent under another name: loads its module and forwards every call. Named by: the identity gate. */
#define _GNU_SOURCE
#include "honest.h"

#include "beside.h"

/* oneDNN, or the module that TARE_TEST_INCUMBENT names. */
static const tare_arm* incumbent(void) {
  const char* named = getenv("TARE_TEST_INCUMBENT");
  const tare_arm* arm =
      named != NULL ? first_arm_of(dlopen(named, RTLD_NOW | RTLD_LOCAL)) : arm_beside("onednn");
  return arm != NULL ? arm : honest_arm_v1(0);
}
LIAR("is_the_incumbent", arm = *incumbent(); arm.name = "is_the_incumbent";
     arm.title = "is_the_incumbent")
