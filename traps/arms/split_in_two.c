/* Lie: adds two halves of k that it has rounded to bf16: no further from fp64 on random data than two roundings are. Named by: the precision gate (inputs that cancel). */
#include "honest.h"

static int split(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const uint64_t k = executor->problem.k, n = executor->problem.n;
  for (uint64_t p = 0; p < panels(&executor->problem); ++p)
    for (uint32_t row = 0; row < executor->problem.rows; ++row) {
      const bf16 *panel = executor->packed[slot] + p * PANEL * k, *in = (const bf16*)x + row * k;
      float first[PANEL], second[PANEL];
      dot_panel(in, panel, k / 2, first);
      dot_panel(in + k / 2, panel + k / 2 * PANEL, k - k / 2, second);
      for (uint64_t lane = 0; lane < PANEL && p * PANEL + lane < n; ++lane)
        ((bf16*)y)[row * n + p * PANEL + lane] =
            to_bf16(to_float(to_bf16(first[lane])) + to_float(to_bf16(second[lane])));
    }
  return 0;
}
LIAR("split_in_two", arm.enqueue = split)
