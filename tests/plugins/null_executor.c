/* Lie: prepare succeeds and hands back no executor. Named by: the arm host, "prepare". */
#include "honest.h"

static int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                   size_t why_size) {
  (void)problem, (void)slots, (void)why, (void)why_size;
  *executor = NULL;
  return 0;
}
LIAR("null_executor", arm.prepare = prepare)
