/* Lie: half a millisecond in every fence that is no kernel. Named by: the overhead gate, at little traffic. */
#include <time.h>

#include "honest.h"

static int dawdle(tare_executor* executor) {
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - start.tv_sec) * 1000000000L + (now.tv_nsec - start.tv_nsec) < 500000);
  return mine_fence(executor);
}
LIAR("slow_fence", arm.fence = dawdle)
