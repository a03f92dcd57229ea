// T21: partial sums are rounded where random data do not show it.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kCancelledSums;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"split_in_two", {"precision"}};
  liar.plan.check = close_enough;
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kCancelledSums{"T21",
                          "cancelled-sums",
                          "partial sums are rounded where random data do not show it",
                          "CUDA-Agent#16; batch_invariant_ops#23",
                          "an arm that rounds two halves of each sum to bf16",
                          "precision",
                          run};

}  // namespace tare::traps
