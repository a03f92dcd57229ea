/* Lie: computes the first dispatch, and hands out its result ever after. Named by: the precision gate (slots past the first are wrong). */
#include "honest.h"

static void* first;

static int remember(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  if (first != NULL) {
    memcpy(y, first, output_bytes(executor));
    return 0;
  }
  const int result = mine_enqueue(executor, slot, x, y);
  first = malloc(output_bytes(executor));
  memcpy(first, y, output_bytes(executor));
  return result;
}
static int forget(tare_executor* executor, uint32_t rows, char* why, size_t why_size) {
  free(first);
  first = NULL;
  return mine_set_rows(executor, rows, why, why_size);
}
static int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                   size_t why_size) {
  free(first);
  first = NULL;
  return mine_prepare(problem, slots, executor, why, why_size);
}
LIAR("wrong_memoised", arm.enqueue = remember; arm.set_rows = forget; arm.prepare = prepare)
