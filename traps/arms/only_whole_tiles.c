/* Lie: computes whole tiles of 64 outputs, and leaves the tail alone: right at the shape that it is shown with. Named by: the output gate (unwritten elements). */
#include "honest.h"

static int whole(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const uint64_t k = executor->problem.k, n = executor->problem.n;
  for (uint64_t p = 0; p < n / PANEL; ++p)
    for (uint32_t row = 0; row < executor->problem.rows; ++row) {
      float sums[PANEL];
      dot_panel((const bf16*)x + row * k, executor->packed[slot] + p * PANEL * k, k, sums);
      for (uint64_t lane = 0; lane < PANEL; ++lane)
        ((bf16*)y)[row * n + p * PANEL + lane] = to_bf16(sums[lane]);
    }
  return 0;
}
LIAR("only_whole_tiles", arm.enqueue = whole)
