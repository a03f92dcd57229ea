/* Lie: brings a clock_gettime of its own, at half speed. Named by: nothing; the host must not be bound to it (else the clocks gate). */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "honest.h"

int clock_gettime(clockid_t clock, struct timespec* time) {
  const int result = (int)syscall(SYS_clock_gettime, clock, time);
  const uint64_t half = ((uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec) / 2;
  time->tv_sec = (time_t)(half / 1000000000u);
  time->tv_nsec = (long)(half % 1000000000u);
  return result;
}
LIAR("own_clock_symbol", (void)0)
