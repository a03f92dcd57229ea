/* Lie: exports no tare_arm_v1. Named by: the arm host, when it loads the module. */
#include "honest.h"

/* Uses what it includes, and lacks only the one symbol. */
TARE_EXPORT const tare_arm* tare_arm_v0(uint32_t index);
const tare_arm* tare_arm_v0(uint32_t index) {
  return honest_arm_v1(index);
}
