/* Lie: tare_arm_v1 never returns NULL. Named by: the arm host, which stops counting. */
#include "honest.h"

const tare_arm* tare_arm_v1(uint32_t index) {
  (void)index;
  return honest_arm_v1(0);
}
