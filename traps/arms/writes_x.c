/* Lie: writes to x, which is read-only memory. Named by: the arm host, as a crash in "enqueue". */
#include "honest.h"

static int scribble(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  *(volatile bf16*)(uintptr_t)x = 0;
  return mine_enqueue(executor, slot, x, y);
}
LIAR("writes_x", arm.enqueue = scribble)
