/* Lie: a child process spins for 20 seconds, beside all arms. Named by: the noise gate (or awake).
 */
#include <unistd.h>

#include "honest.h"

static int start(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                 size_t why_size) {
  static int started;
  if (!started && fork() == 0) {
    alarm(20); /* ends it */
    for (volatile int spinning = 1; spinning;) {
    }
  }
  started = 1;
  return mine_prepare(problem, slots, executor, why, why_size);
}
LIAR("busy_child", arm.prepare = start)
