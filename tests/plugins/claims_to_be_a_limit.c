/* Lie: calls itself a limit, whose output is not checked, and computes nothing. Named by: the arm host (a plugin cannot be a limit). */
#include "honest.h"

static int nothing(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  (void)executor, (void)slot, (void)x, (void)y;
  return 0;
}
LIAR("claims_to_be_a_limit", arm.flags = TARE_IS_LIMIT; arm.enqueue = nothing)
