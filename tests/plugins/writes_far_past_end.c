/* Lie: right, but writes 32 bytes one page past its output. Named by: the output gate (guard zones), or as a crash. */
#include "honest.h"

static int overrun(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const int result = mine_enqueue(executor, slot, x, y);
  memset((char*)y + output_bytes(executor) + 4096, 0x11, 32);
  return result;
}
LIAR("writes_far_past_end", arm.enqueue = overrun)
