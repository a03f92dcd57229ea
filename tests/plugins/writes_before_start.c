/* Lie: right, but writes 2 bytes in front of its output. Named by: the output gate (guard zones). */
#include "honest.h"

static int underrun(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const int result = mine_enqueue(executor, slot, x, y);
  memset((char*)y - 2, 0x11, 2);
  return result;
}
LIAR("writes_before_start", arm.enqueue = underrun)
