/* Lie: as fast as it can for a while, then at half speed for as long, as a processor that gets hot. Named by: the drift gate. */
#include "honest.h"
#include "spin.h"

#define PHASE 0.5 /* seconds */

static int weary(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  static double first;
  const double start = now_seconds();
  if (first == 0) first = start;
  const int result = mine_enqueue(executor, slot, x, y);
  const double stop = now_seconds();
  if ((long)((start - first) / PHASE) % 2 == 1) spin_until(stop + (stop - start));
  return result;
}
LIAR("throttles", arm.enqueue = weary)
