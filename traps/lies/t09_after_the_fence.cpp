// T9: the work is done on another thread, after the clock has stopped.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kAfterTheFence;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"works_after_fence", {"output"}};
  liar.plan.samples = 1;
  liar.plan.warm_up = false;
  liar.plan.k = 4096;
  liar.plan.n = 4096;
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kAfterTheFence{"T9",
                          "after-the-fence",
                          "the work is done on another thread, after the clock has stopped",
                          "flashinfer-bench#427; KernelBench#82",
                          "an arm whose fence returns at once while a thread still computes",
                          "output",
                          run};

}  // namespace tare::traps
