/* Lie: leaves rounding towards zero behind after enqueue. Named by: the arm host (floating-point mode changed). */
#include <fenv.h>

#include "honest.h"

static int truncate(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const int result = mine_enqueue(executor, slot, x, y);
  fesetround(FE_TOWARDZERO);
  return result;
}
LIAR("leaves_rounding_changed", arm.enqueue = truncate)
