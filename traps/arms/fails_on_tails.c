/* Lie: cannot do an n that is no multiple of 64, and fails when it is dispatched. Named by: the arm host: the row has failed. */
#include "honest.h"

static int only_tiles(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  return executor->problem.n % 64 != 0 ? 7 : mine_enqueue(executor, slot, x, y);
}
LIAR("fails_on_tails", arm.enqueue = only_tiles)
