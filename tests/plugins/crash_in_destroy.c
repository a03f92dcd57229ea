/* Lie: crashes (SIGSEGV) in destroy. Named by: the arm host, "destroy". */
#include "honest.h"

static void crash(tare_executor* executor) {
  segfault();
  mine_destroy(executor);
}
LIAR("crash_in_destroy", arm.destroy = crash)
