/* Lie: leaves a thread spinning, also while other arms run. Named by: the awake gate. */
#include <pthread.h>

#include "honest.h"

static volatile int spinning = 1;
static void* spin(void* nothing) {
  while (spinning) {
  }
  return nothing;
}
static int start(tare_executor* executor) {
  static int started;
  pthread_t thread;
  if (!started) started = pthread_create(&thread, NULL, spin, NULL) == 0;
  return mine_fence(executor);
}
LIAR("spins_after_fence", arm.fence = start)
