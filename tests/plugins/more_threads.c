/* Lie: offered some threads, reports one more than it was offered. Named by: the threads gate. */
#include "honest.h"

static int boast(tare_executor* executor, tare_dispatch_record* record) {
  const int result = mine_dispatched(executor, record);
  record->threads = services->threads + 1;
  return result;
}
LIAR("more_threads", arm.dispatched = boast)
