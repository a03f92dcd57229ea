/* Honest: keeps a thread that sleeps. Named by: nothing; asleep is allowed. */
#include <pthread.h>
#include <unistd.h>

#include "honest.h"

static void* sleep_on(void* nothing) {
  for (;;) pause();
  return nothing;
}
static int start(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                 size_t why_size) {
  static int started;
  pthread_t thread;
  if (!started) started = pthread_create(&thread, NULL, sleep_on, NULL) == 0;
  return mine_prepare(problem, slots, executor, why, why_size);
}
LIAR("sleeping_thread", arm.prepare = start)
