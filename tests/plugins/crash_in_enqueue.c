/* Lie: crashes (SIGSEGV) in enqueue. Named by: the arm host, "enqueue". */
#include "honest.h"

static int crash(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  segfault();
  return mine_enqueue(executor, slot, x, y);
}
LIAR("crash_in_enqueue", arm.enqueue = crash)
