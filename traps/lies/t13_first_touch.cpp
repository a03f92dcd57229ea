// T13: memory is touched for the first time inside the timed part.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kFirstTouch;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"allocates_per_call", {"faults"}};
  liar.arguments = cold_row({"--traffic", "5e7"});
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kFirstTouch{"T13",
                       "first-touch",
                       "memory is touched for the first time inside the timed part",
                       "SOL-ExecBench",
                       "an arm that maps, touches and unmaps 4 MB in every dispatch",
                       "faults",
                       run};

}  // namespace tare::traps
