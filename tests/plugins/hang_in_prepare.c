/* Lie: hangs in prepare, asleep. Named by: the arm host, when its patience with prepare ends. */
#include <unistd.h>

#include "honest.h"

static int hang(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                size_t why_size) {
  for (;;) pause();
  return mine_prepare(problem, slots, executor, why, why_size);
}
LIAR("hang_in_prepare", arm.prepare = hang)
