// C3: the output buffer still holds the right answer.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kStaleOutput;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"never_writes", {"output"}};
  liar.plan.right_answer_left_in_y = true;
  liar.plan.check = close_enough;
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kStaleOutput{
    "C3",
    "stale-output",
    "the output buffer still holds the right answer",
    "KernelBench#82; cudnn-frontend#735",
    "an arm that never writes, and a reference that was computed into the same buffer",
    "output",
    run};

}  // namespace tare::traps
