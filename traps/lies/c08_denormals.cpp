// C8: the floating-point mode is left changed.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kDenormals;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"leaves_denormals_off", {"failed"}};
  liar.plan.check = close_enough;
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kDenormals{"C8",
                      "denormals",
                      "the floating-point mode is left changed",
                      "Kinoko#498",
                      "an arm that flushes denormals, for itself and all code after it",
                      "failed",
                      run};

}  // namespace tare::traps
