/* Lie: always reads the weights of slot 0, which stay in cache. Named by: the precision gate, and the limit gate. */
#include "honest.h"

static int warm(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  (void)slot;
  return mine_enqueue(executor, 0, x, y);
}
LIAR("wrong_slot", arm.enqueue = warm)
