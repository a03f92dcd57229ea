/* Lie: calls exit(0) in enqueue, as if all were well. Named by: the arm host, "enqueue". */
#include "honest.h"

static int leave(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  exit(0);
  return mine_enqueue(executor, slot, x, y);
}
LIAR("exit_in_enqueue", arm.enqueue = leave)
