/* Lie: fills every string of its dispatch record to the brim, without a NUL. Named by: nothing; the strings are cut. */
#include "honest.h"

static int boast(tare_executor* executor, tare_dispatch_record* record) {
  (void)executor;
  memset(record->kernel, 'k', sizeof record->kernel);
  memset(record->isa, 'i', sizeof record->isa);
  memset(record->configuration, 'c', sizeof record->configuration);
  memset(record->library, 'l', sizeof record->library);
  record->threads = 1;
  return 0;
}
LIAR("unterminated_record", arm.dispatched = boast)
