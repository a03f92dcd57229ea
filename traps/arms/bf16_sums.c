/* Lie: rounds its sums to bf16 after every 64 products, as the reference that it is checked with does. Named by: the precision gate (fp64 oracle). */
#include "honest.h"

#define STEP 64

static int round_often(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const uint64_t k = executor->problem.k, n = executor->problem.n;
  for (uint64_t p = 0; p < panels(&executor->problem); ++p)
    for (uint32_t row = 0; row < executor->problem.rows; ++row) {
      const bf16* panel = executor->packed[slot] + p * PANEL * k;
      float sums[PANEL] = {0}, part[PANEL];
      for (uint64_t i = 0; i < k; i += STEP) {
        dot_panel((const bf16*)x + row * k + i, panel + i * PANEL, k - i < STEP ? k - i : STEP,
                  part);
        for (int lane = 0; lane < PANEL; ++lane)
          sums[lane] = to_float(to_bf16(sums[lane] + to_float(to_bf16(part[lane]))));
      }
      for (uint64_t lane = 0; lane < PANEL && p * PANEL + lane < n; ++lane)
        ((bf16*)y)[row * n + p * PANEL + lane] = to_bf16(sums[lane]);
    }
  return 0;
}
LIAR("bf16_sums", arm.enqueue = round_often)
