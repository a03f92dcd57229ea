/* Lie: remembers the result of every pair of weights and x by their addresses, as if every token were the same. Named by: the precision gate (new values at the old addresses). */
#include "honest.h"

#define MOST 4096
static struct {
  const tare_executor* executor;
  uint32_t rows;
  const void* x;
  void* y;
} results[MOST];

static int remember(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  if (slot >= MOST) return mine_enqueue(executor, slot, x, y);
  if (results[slot].executor == executor && results[slot].x == x &&
      results[slot].rows == executor->problem.rows) {
    memcpy(y, results[slot].y, output_bytes(executor));
    return 0;
  }
  const int result = mine_enqueue(executor, slot, x, y);
  free(results[slot].y);
  results[slot].executor = executor;
  results[slot].rows = executor->problem.rows;
  results[slot].x = x;
  results[slot].y = malloc(output_bytes(executor));
  memcpy(results[slot].y, y, output_bytes(executor));
  return result;
}
static void forget(tare_executor* executor) {
  for (int slot = 0; slot < MOST; ++slot)
    if (results[slot].executor == executor) results[slot].executor = NULL;
  mine_destroy(executor);
}
LIAR("same_token", arm.enqueue = remember; arm.destroy = forget)
