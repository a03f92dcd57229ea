// T27: the candidate silently is the incumbent.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kFallback;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"is_the_incumbent", {"identity"}};
  liar.plan.check = close_enough;
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kFallback{"T27",
                     "fallback",
                     "the candidate silently is the incumbent",
                     "meTile rows 1 and 8; flashinfer-bench's adapter",
                     "an arm that loads oneDNN's module and forwards every call",
                     "identity",
                     run};

}  // namespace tare::traps
