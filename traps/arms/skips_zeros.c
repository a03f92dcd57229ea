/* Lie: fast on the zeros that a benchmark allocates: skips weights that are all zero. Named by: nothing; on drawn weights there is nothing to skip. */
#include "honest.h"

#define MOST 4096
static unsigned char all_zero[MOST];

static int look(tare_executor* executor, uint32_t slot, const void* weights, char* why,
                size_t why_size) {
  const bf16* w = (const bf16*)weights;
  uint64_t left = executor->problem.k * executor->problem.n;
  while (left > 0 && w[left - 1] == 0) --left;
  if (slot < MOST) all_zero[slot] = left == 0;
  return mine_bind(executor, slot, weights, why, why_size);
}
static int skip(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  if (slot >= MOST || !all_zero[slot]) return mine_enqueue(executor, slot, x, y);
  memset(y, 0, output_bytes(executor));
  return 0;
}
LIAR("skips_zeros", arm.bind = look; arm.enqueue = skip)
