/* Lie: uses two threads on two processors where it was offered one. Named by: the threads gate. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "honest.h"

struct half {
  tare_executor* executor;
  uint32_t slot;
  const void* x;
  void* y;
};

static void do_panels(const struct half* job, uint64_t from, uint64_t to) {
  const uint64_t k = job->executor->problem.k, n = job->executor->problem.n;
  for (uint64_t p = from; p < to; ++p)
    for (uint32_t row = 0; row < job->executor->problem.rows; ++row) {
      float sums[PANEL];
      dot_panel((const bf16*)job->x + row * k, job->executor->packed[job->slot] + p * PANEL * k, k,
                sums);
      for (uint64_t lane = 0; lane < PANEL && p * PANEL + lane < n; ++lane)
        ((bf16*)job->y)[row * n + p * PANEL + lane] = to_bf16(sums[lane]);
    }
}
static void* second_half(void* argument) {
  const struct half* job = (const struct half*)argument;
  cpu_set_t all;
  memset(&all, 0xFF, sizeof all); /* out of the processors that were offered */
  sched_setaffinity(0, sizeof all, &all);
  do_panels(job, panels(&job->executor->problem) / 2, panels(&job->executor->problem));
  return NULL;
}
static int both(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  struct half job = {executor, slot, x, y};
  pthread_t thread;
  if (pthread_create(&thread, NULL, second_half, &job) != 0) return 1;
  do_panels(&job, 0, panels(&executor->problem) / 2);
  return pthread_join(thread, NULL);
}
static int confess(tare_executor* executor, tare_dispatch_record* record) {
  const int result = mine_dispatched(executor, record);
  record->threads = 2;
  return result;
}
LIAR("unequal_threads", arm.enqueue = both; arm.dispatched = confess)
