/* Lie: one NaN in every output. Named by: the output gate (classes, non-finite). */
#include "honest.h"

static int not_a_number(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const int result = mine_enqueue(executor, slot, x, y);
  ((bf16*)y)[0] = 0x7FC0;
  return result;
}
LIAR("returns_nan", arm.enqueue = not_a_number)
