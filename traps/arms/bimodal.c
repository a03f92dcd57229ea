/* Lie: one region in four at full speed, the others at two thirds of it: the best of five is nearly always a fast one. Named by: nothing; rounds are compared, not the best of them. */
#include "honest.h"
#include "spin.h"

static double begun; /* of the dispatches before this fence */
static unsigned fences;

static int begin(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  if (begun == 0) begun = now_seconds();
  return mine_enqueue(executor, slot, x, y);
}
static int end(tare_executor* executor) {
  const double now = now_seconds();
  /* A hash of the count: no pattern that keeps step with rounds. */
  if (++fences * 2654435761u >> 30 != 0 && begun > 0) spin_until(now + (now - begun) / 2);
  begun = 0;
  return mine_fence(executor);
}
LIAR("bimodal", arm.enqueue = begin; arm.fence = end)
