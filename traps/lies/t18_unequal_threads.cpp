// T18: one arm uses more threads than the other.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kUnequalThreads;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"unequal_threads", {"threads"}};
  liar.plan.k = 4096;
  liar.plan.n = 1024;
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kUnequalThreads{"T18",
                           "unequal-threads",
                           "one arm uses more threads than the other",
                           "llama.cpp#16164, #19260 (3.6x)",
                           "an arm that was offered one thread and takes two processors",
                           "threads",
                           run};

}  // namespace tare::traps
