/* Lie: crashes (SIGSEGV) in open. Named by: the arm host, "open". */
#include "honest.h"

static int crash(const tare_services* offered, char* why, size_t why_size) {
  segfault();
  return mine_open(offered, why, why_size);
}
LIAR("crash_in_open", arm.open = crash)
