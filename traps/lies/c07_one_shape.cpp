// C7: right at the one shape that is tested.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kOneShape;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"only_whole_tiles", {"output"}};
  liar.plan.check = close_enough;
  liar.arguments = cold_row({"--shape", "1536x200"});
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kOneShape{
    "C7",
    "one-shape",
    "right at the one shape that is tested",
    "BackendBench",
    "an arm that computes whole tiles of 64 outputs: tested with 256, used with 200",
    "output",
    run};

}  // namespace tare::traps
