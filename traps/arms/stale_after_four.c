/* Lie: fast because it does nothing after its first four dispatches, and leaves y stale. Named by: the output gate (poison). */
#include "honest.h"

static unsigned calls;
static int idle(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  return ++calls > 4 ? 0 : mine_enqueue(executor, slot, x, y);
}
LIAR("stale_after_four", arm.enqueue = idle)
