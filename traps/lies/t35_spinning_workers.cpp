// T35: idle workers of one library burn the processors of the next.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kSpinningWorkers;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"spins_after_fence", {"awake"}};
  liar.arguments = cold_row({"--threads", "2", "--seconds-per-row", "1"});
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kSpinningWorkers{"T35",
                            "spinning-workers",
                            "idle workers of one library burn the processors of the next",
                            "two OpenMP runtimes in one process, on a machine of 2 cores",
                            "an arm that leaves a spinning thread behind",
                            "awake",
                            run};

}  // namespace tare::traps
