/* Lie: right, but reads the cache line behind x. Named by: the guard pages of `tare prove`. */
#include "honest.h"

static volatile char sink;

static int overread(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const size_t bytes = (size_t)(executor->problem.rows * executor->problem.k) * sizeof(bf16);
  sink = ((const volatile char*)x)[(bytes + 63) / 64 * 64];
  return mine_enqueue(executor, slot, x, y);
}
LIAR("reads_past_end", arm.enqueue = overread)
