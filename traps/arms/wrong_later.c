/* Lie: right for the first 200 dispatches, then one bit off. Named by: the output gate (timed regions). */
#include "honest.h"

static unsigned calls;
static int drift(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const int result = mine_enqueue(executor, slot, x, y);
  if (++calls > 200) ((bf16*)y)[0] ^= 1;
  return result;
}
LIAR("wrong_later", arm.enqueue = drift)
