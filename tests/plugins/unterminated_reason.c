/* Lie: refuses, and fills `why` to the brim without a NUL. Named by: the row, with the reason cut.
 */
#include "honest.h"

static int no(const tare_problem* problem, char* why, size_t why_size) {
  (void)problem;
  memset(why, 'r', why_size);
  return 1;
}
LIAR("unterminated_reason", arm.supports = no)
