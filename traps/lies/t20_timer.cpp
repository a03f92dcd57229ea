// T20: regions as short as the timer's own step.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kTimer;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"honest", {"floor", "overhead"}};
  liar.arguments = hot_row({"--shape", "16x16", "--traffic", "512"});
  liar.plan.k = liar.plan.n = 16;
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kTimer{"T20",
                  "timer",
                  "regions as short as the timer's own step",
                  "nvbench#184",
                  "one dispatch of 16x16 a region",
                  "floor, overhead",
                  run};

}  // namespace tare::traps
