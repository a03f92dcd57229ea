/* Lie: none, but destroy takes a third of a second: ^C is noticed in it (tests/cli/interrupt_test.py). */
#include <time.h>

#include "honest.h"

static void destroy_slowly(tare_executor* executor) {
  const struct timespec third = {0, 333000000};
  nanosleep(&third, NULL);
  mine_destroy(executor);
}
LIAR("slow_destroy", arm.destroy = destroy_slowly)
