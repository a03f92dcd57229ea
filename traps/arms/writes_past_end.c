/* Lie: right, but writes 32 bytes past its output. Named by: the output gate (guard zones). */
#include "honest.h"

static int overrun(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const int result = mine_enqueue(executor, slot, x, y);
  memset((char*)y + output_bytes(executor), 0x11, 32);
  return result;
}
LIAR("writes_past_end", arm.enqueue = overrun)
