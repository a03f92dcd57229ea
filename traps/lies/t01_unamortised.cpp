// T1: a fixed cost a region is weighed as if it were the kernel.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kUnamortised;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"slow_fence", {"overhead"}};
  liar.arguments = cold_row({"--traffic", "4e6"});
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kUnamortised{"T1",
                        "unamortised",
                        "a fixed cost a region is weighed as if it were the kernel",
                        "meTile: 1.828x for 0.993x; ml-explore/mlx#4265",
                        "an arm whose fence costs half a millisecond, one dispatch a region",
                        "overhead",
                        run};

}  // namespace tare::traps
