/* spin.h: seconds on the clock, and seconds spent at work that is no work: what lies about time are
 * made of. */
#ifndef TARE_TRAPS_SPIN_H
#define TARE_TRAPS_SPIN_H

#include <time.h>

static inline double now_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline void spin_until(double when) {
  while (now_seconds() < when) {
  }
}

#endif /* TARE_TRAPS_SPIN_H */
