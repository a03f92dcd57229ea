// T2: code is generated inside the timed loop.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kCompilesInside;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"compiles_per_call", {"faults"}};
  liar.arguments = cold_row({"--traffic", "5e7"});
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kCompilesInside{"T2",
                           "compiles-inside",
                           "code is generated inside the timed loop",
                           "meTile scheduler 0.83x; oneDNN#720; TiledBench#2",
                           "an arm that maps fresh machine code in every dispatch",
                           "faults",
                           run};

}  // namespace tare::traps
