/* Lie: computes nothing and writes zeros. Named by: the precision gate (fp64 error), and the limit gate. */
#include "honest.h"

static int zeros(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  (void)slot, (void)x;
  memset(y, 0, output_bytes(executor));
  return 0;
}
LIAR("wrong_zeros", arm.enqueue = zeros)
