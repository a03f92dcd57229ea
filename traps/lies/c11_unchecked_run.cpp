// C11: right while it is checked, wrong while it is timed.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kUncheckedRun;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"wrong_later", {"output"}};
  liar.plan.check = close_enough;
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kUncheckedRun{"C11",
                         "unchecked-run",
                         "right while it is checked, wrong while it is timed",
                         "SOL-ExecBench",
                         "an arm that is off by one bit from its 200th dispatch on",
                         "output",
                         run};

}  // namespace tare::traps
