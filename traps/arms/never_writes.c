/* Lie: never writes its output. Named by: the output gate (poison, twice), and the limit gate. */
#include "honest.h"

static int nothing(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  (void)executor, (void)slot, (void)x, (void)y;
  return 0;
}
LIAR("never_writes", arm.enqueue = nothing)
