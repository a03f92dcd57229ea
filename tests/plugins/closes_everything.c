/* Lie: closes every file descriptor of its process. Named by: nothing; the run goes on, or the arm host is lost with a sentence. */
#include <unistd.h>

#include "honest.h"

static int slam(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                size_t why_size) {
  for (int i = 0; i < 1024; ++i) close(i);
  return mine_prepare(problem, slots, executor, why, why_size);
}
LIAR("closes_everything", arm.prepare = slam)
