/* Honest: refuses every problem, with a reason. Named by: the row, with that reason. */
#include "honest.h"

static int no(const tare_problem* problem, char* why, size_t why_size) {
  (void)problem;
  return refuse(why, why_size, "this kernel wants k to be a multiple of pi");
}
LIAR("refuses", arm.supports = no)
