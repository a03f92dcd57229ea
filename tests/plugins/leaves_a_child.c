/* Lie: leaves a child process behind that holds stdout, stderr and everything else open for a minute. Named by: nothing; the run must end without waiting for it. */
#include <unistd.h>

#include "honest.h"

static int start(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                 size_t why_size) {
  static int started;
  if (!started && fork() == 0) {
    sleep(60);
    _exit(0);
  }
  started = 1;
  return mine_prepare(problem, slots, executor, why, why_size);
}
LIAR("leaves_a_child", arm.prepare = start)
