// T34: the candidate tampers with the clock.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kTamperedClock;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"patched_clock", {"clocks"}};
  liar.arguments = cold_row({"--traffic", "2e9", "--seconds-per-row", "0.6"});
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kTamperedClock{
    "T34",
    "tampered-clock",
    "the candidate tampers with the clock",
    "pygpubench's exploits; reference-kernels#162 (time 0.000)",
    "an arm that overwrites clock_gettime in memory, so that half the time passes",
    "clocks",
    run};

}  // namespace tare::traps
