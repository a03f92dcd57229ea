/* Lie: computes the first half of k only, and so is twice as fast. Named by: the precision gate (fp64 error). */
#include "honest.h"

static int half(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const uint64_t k = executor->problem.k, n = executor->problem.n;
  for (uint64_t p = 0; p < panels(&executor->problem); ++p) {
    for (uint32_t row = 0; row < executor->problem.rows; ++row) {
      float sums[PANEL];
      dot_panel((const bf16*)x + row * k, executor->packed[slot] + p * PANEL * k, k / 2, sums);
      for (uint64_t lane = 0; lane < PANEL && p * PANEL + lane < n; ++lane) {
        ((bf16*)y)[row * n + p * PANEL + lane] = to_bf16(sums[lane]);
      }
    }
  }
  return 0;
}
LIAR("half_the_sum", arm.enqueue = half)
