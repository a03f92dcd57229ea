/* Lie: enqueue returns non-zero. Named by: the arm host, "enqueue". */
#include "honest.h"

static int fail(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  mine_enqueue(executor, slot, x, y);
  return 7;
}
LIAR("fails_in_enqueue", arm.enqueue = fail)
