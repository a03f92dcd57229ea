/* Lie: one region in seven takes twice as long, which no minimum and no median shows. Named by: nothing; mean and tail stand beside the ratio. */
#include "honest.h"
#include "spin.h"

static double begun;
static unsigned fences;

static int begin(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  if (begun == 0) begun = now_seconds();
  return mine_enqueue(executor, slot, x, y);
}
static int end(tare_executor* executor) {
  const double now = now_seconds();
  if (++fences * 2654435761u < 613566756u && begun > 0) spin_until(now + (now - begun));
  begun = 0;
  return mine_fence(executor);
}
LIAR("sometimes_slow", arm.enqueue = begin; arm.fence = end)
