/* Lie: fence returns at once, and a thread does the last dispatch later. Named by: the output gate. */
#include <pthread.h>

#include "honest.h"

/* One dispatch in flight at a time; the next one, and nothing else, waits for it. */
static struct {
  tare_executor* executor;
  uint32_t slot;
  const void* x;
  void* y;
} job;
static pthread_t worker;
static int running;

static void* work(void* nothing) {
  mine_enqueue(job.executor, job.slot, job.x, job.y);
  return nothing;
}
static void wait_for_worker(void) {
  if (running) pthread_join(worker, NULL);
  running = 0;
}
static int later(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  wait_for_worker();
  job.executor = executor;
  job.slot = slot;
  job.x = x;
  job.y = y;
  running = pthread_create(&worker, NULL, work, NULL) == 0;
  return running ? 0 : 1;
}
static void stop(tare_executor* executor) {
  wait_for_worker();
  mine_destroy(executor);
}
LIAR("works_after_fence", arm.enqueue = later; arm.destroy = stop)
