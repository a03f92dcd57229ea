/* Lie: a thread of its own does the last outputs, and the fence gives it a moment instead of waiting. Named by: the output gate (a race: not the same bits every time). */
#include <pthread.h>

#include "honest.h"
#include "spin.h"

#define MOMENT 5e-6 /* seconds: less than starting a thread takes */

static struct {
  tare_executor* executor;
  uint32_t slot;
  const void* x;
  void* y;
} job;
static pthread_t worker;
static int running;

static void* last_panel(void* nothing) {
  const uint64_t k = job.executor->problem.k, n = job.executor->problem.n;
  const uint64_t p = panels(&job.executor->problem) - 1;
  for (uint32_t row = 0; row < job.executor->problem.rows; ++row) {
    float sums[PANEL];
    dot_panel((const bf16*)job.x + row * k, job.executor->packed[job.slot] + p * PANEL * k, k,
              sums);
    for (uint64_t lane = 0; lane < PANEL && p * PANEL + lane < n; ++lane)
      ((bf16*)job.y)[row * n + p * PANEL + lane] = to_bf16(sums[lane]);
  }
  return nothing;
}
static void join(void) {
  if (running) pthread_join(worker, NULL);
  running = 0;
}
static int race(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const uint64_t k = executor->problem.k, n = executor->problem.n;
  join();
  job.executor = executor;
  job.slot = slot;
  job.x = x;
  job.y = y;
  running = pthread_create(&worker, NULL, last_panel, NULL) == 0;
  for (uint64_t p = 0; p + 1 < panels(&executor->problem); ++p)
    for (uint32_t row = 0; row < executor->problem.rows; ++row) {
      float sums[PANEL];
      dot_panel((const bf16*)x + row * k, executor->packed[slot] + p * PANEL * k, k, sums);
      for (uint64_t lane = 0; lane < PANEL; ++lane)
        ((bf16*)y)[row * n + p * PANEL + lane] = to_bf16(sums[lane]);
    }
  return running ? 0 : 1;
}
static int hope(tare_executor* executor) {
  spin_until(now_seconds() + MOMENT);
  return mine_fence(executor);
}
static void stop(tare_executor* executor) {
  join();
  mine_destroy(executor);
}
LIAR("racy", arm.enqueue = race; arm.fence = hope; arm.destroy = stop)
