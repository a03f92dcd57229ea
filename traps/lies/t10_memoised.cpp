// T10: the result of the first call is handed out ever after.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kMemoised;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"wrong_memoised", {"precision", "output"}};
  liar.plan.check = close_enough;
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kMemoised{"T10",
                     "memoised",
                     "the result of the first call is handed out ever after",
                     "kernelbot#501; tensara#238; flashinfer-bench#413",
                     "an arm that copies its first result",
                     "precision, output",
                     run};

}  // namespace tare::traps
