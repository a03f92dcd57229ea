/* Lie: crashes (SIGSEGV) in fence. Named by: the arm host, "fence". */
#include "honest.h"

static int crash(tare_executor* executor) {
  segfault();
  return mine_fence(executor);
}
LIAR("crash_in_fence", arm.fence = crash)
