// T16: the clock changes while it is measured.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kThrottling;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"throttles", {"drift"}};
  liar.arguments = cold_row({"--seconds-per-row", "1"});
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kThrottling{"T16",
                       "throttling",
                       "the clock changes while it is measured",
                       "imp#1469; triton#2306 (30 %); composable_kernel#1241",
                       "an arm that works at half speed in every other half second",
                       "drift",
                       run};

}  // namespace tare::traps
