/* Lie: hangs in enqueue, busy. Named by: the arm host, when its patience with enqueue ends. */
#include "honest.h"

static volatile int forever = 1;
static int hang(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  while (forever) {
  }
  return mine_enqueue(executor, slot, x, y);
}
LIAR("spin_in_enqueue", arm.enqueue = hang)
