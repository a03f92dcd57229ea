/* Lie: fence returns non-zero. Named by: the arm host, "fence". */
#include "honest.h"

static int fail(tare_executor* executor) {
  (void)executor;
  return 7;
}
LIAR("fails_in_fence", arm.fence = fail)
