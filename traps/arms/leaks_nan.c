/* Lie: adds nothing of the next row to each row, which is nothing only while that row is finite. Named by: the output gate (a NaN crosses from row to row). */
#include "honest.h"

static int leak(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const uint64_t n = executor->problem.n;
  const uint32_t rows = executor->problem.rows;
  const int result = mine_enqueue(executor, slot, x, y);
  bf16* out = (bf16*)y;
  for (uint32_t row = 0; row + 1 < rows; ++row)
    for (uint64_t i = 0; i < n; ++i) {
      const float nothing = 0 * to_float(out[(row + 1) * n + i]);
      out[row * n + i] = to_bf16(to_float(out[row * n + i]) + nothing);
    }
  return result;
}
LIAR("leaks_nan", arm.enqueue = leak)
