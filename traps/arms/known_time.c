/* Honest: every dispatch takes 500 microseconds, on the clock. Named by: nothing; a harness whose arithmetic is right says 500 us. */
#include "honest.h"
#include "spin.h"

static int punctual(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  const double start = now_seconds();
  const int result = mine_enqueue(executor, slot, x, y);
  spin_until(start + 500e-6);
  return result;
}
LIAR("known_time", arm.enqueue = punctual)
