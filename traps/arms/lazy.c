/* Lie: only remembers what is to be done, and does it when somebody asks which kernel ran. Named by: the output gate (nothing was written). */
#include "honest.h"

static struct {
  uint32_t slot;
  const void* x;
  void* y;
} job;

static int remember(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  (void)executor;
  job.slot = slot;
  job.x = x;
  job.y = y;
  return 0;
}
static int evaluate(tare_executor* executor, tare_dispatch_record* record) {
  if (job.y != NULL) mine_enqueue(executor, job.slot, job.x, job.y);
  job.y = NULL;
  return mine_dispatched(executor, record);
}
LIAR("lazy", arm.enqueue = remember; arm.dispatched = evaluate)
