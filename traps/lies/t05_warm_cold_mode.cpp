// T5: a cold mode that reads one copy all the same.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kWarmColdMode;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"wrong_slot", {"precision", "output", "limit"}};
  liar.plan.copies = 128;
  liar.claim = " on 128 cold copies";
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kWarmColdMode{"T5",
                         "warm-cold-mode",
                         "a cold mode that reads one copy all the same",
                         "flashinfer#4468 (36 %); oneDNN#4529, #4609; DeepGEMM#68",
                         "an arm that takes the weights of slot 0 whatever slot is asked for, and "
                         "a harness with 128 copies that believes it",
                         "precision, output, limit",
                         run};

}  // namespace tare::traps
