/* Lie: crashes (SIGSEGV) in prepare. Named by: the arm host, "prepare". */
#include "honest.h"

static int crash(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                 size_t why_size) {
  segfault();
  return mine_prepare(problem, slots, executor, why, why_size);
}
LIAR("crash_in_prepare", arm.prepare = crash)
