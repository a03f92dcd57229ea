// T11: nobody reads the output, so nothing is computed.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kDeadCode;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"never_writes", {"output"}};
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kDeadCode{"T11",
                     "dead-code",
                     "nobody reads the output, so nothing is computed",
                     "evmone#1663; google/benchmark#242; 103,438 GB/s",
                     "an arm that does nothing at all, and a harness that consumes nothing",
                     "output",
                     run};

}  // namespace tare::traps
