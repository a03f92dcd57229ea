/* Lie: two threads add their halves of each sum into the same floats, and nothing keeps them apart. Named by: the output gate (a race: not the same bits every time). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "honest.h"

#define MOST 65536 /* outputs */
static volatile float shared[MOST];

static struct {
  tare_executor* executor;
  uint32_t slot;
  const bf16* x;
} job;
static atomic_int begun;

#define STEP 128 /* products between two additions into the shared sums */

/* One half of k of one panel, for all rows, into the shared sums: whoever comes first. */
static void add_half(uint64_t p, int second) {
  const uint64_t k = job.executor->problem.k, n = job.executor->problem.n;
  const uint64_t to = second ? k : k / 2;
  for (uint32_t row = 0; row < job.executor->problem.rows; ++row)
    for (uint64_t from = second ? k / 2 : 0; from < to; from += STEP) {
      float part[PANEL];
      dot_panel(job.x + row * k + from, job.executor->packed[job.slot] + (p * k + from) * PANEL,
                to - from < STEP ? to - from : STEP, part);
      for (uint64_t lane = 0; lane < PANEL && p * PANEL + lane < n; ++lane)
        shared[row * n + p * PANEL + lane] += part[lane];
    }
}
static void add_halves(int second) {
  for (uint64_t p = 0; p < panels(&job.executor->problem); ++p) add_half(p, second);
}
static void* second_halves(void* nothing) {
  atomic_store(&begun, 1);
  add_halves(1);
  return nothing;
}

static int race(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const uint64_t outputs = executor->problem.rows * executor->problem.n;
  pthread_t thread;
  if (outputs > MOST) return mine_enqueue(executor, slot, x, y);
  job.executor = executor;
  job.slot = slot;
  job.x = (const bf16*)x;
  for (uint64_t i = 0; i < outputs; ++i) shared[i] = 0;
  atomic_store(&begun, 0);
  if (pthread_create(&thread, NULL, second_halves, NULL) != 0) return 1;
  while (!atomic_load(&begun)) sched_yield();
  add_halves(0);
  pthread_join(thread, NULL);
  for (uint64_t i = 0; i < outputs; ++i) ((bf16*)y)[i] = to_bf16(shared[i]);
  return 0;
}
LIAR("racy", arm.enqueue = race)
