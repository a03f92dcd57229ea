// C5: the kernel changes its inputs.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kInputsModified;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"writes_x", {"failed"}};
  liar.plan.x_scale = 0x1p-10F;
  liar.plan.check = close_enough;
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kInputsModified{"C5",
                           "inputs-modified",
                           "the kernel changes its inputs",
                           "KernelBench#82",
                           "an arm that sets an element of x to zero before it computes",
                           "failed",
                           run};

}  // namespace tare::traps
