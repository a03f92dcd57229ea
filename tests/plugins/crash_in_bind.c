/* Lie: crashes (SIGSEGV) in bind. Named by: the arm host, "bind". */
#include "honest.h"

static int crash(tare_executor* executor, uint32_t slot, const void* weights, char* why,
                 size_t why_size) {
  segfault();
  return mine_bind(executor, slot, weights, why, why_size);
}
LIAR("crash_in_bind", arm.bind = crash)
