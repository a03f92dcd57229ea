/* Lie: a module with no arm in it. Named by: the arm host, when it loads the module. */
#include "honest.h"

const tare_arm* tare_arm_v1(uint32_t index) {
  (void)honest_arm_v1;
  (void)index;
  return NULL;
}
