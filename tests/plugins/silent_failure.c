/* Lie: prepare fails without a word. Named by: the arm host; the row says that no reason was given.
 */
#include "honest.h"

static int fail(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                size_t why_size) {
  (void)problem, (void)slots, (void)executor, (void)why, (void)why_size;
  return 1;
}
LIAR("silent_failure", arm.prepare = fail)
