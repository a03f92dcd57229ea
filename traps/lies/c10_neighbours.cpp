// C10: a row depends on its neighbours.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kNeighbours;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"leaks_nan", {"output"}};
  liar.plan.rows = 4;
  liar.plan.check = close_enough;
  liar.arguments = cold_row({"--rows", "4"});
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kNeighbours{
    "C10",
    "neighbours",
    "a row depends on its neighbours",
    "sglang#27869; vllm#51902; oneDNN#1443; llama.cpp#28111",
    "an arm that adds nothing of the next row to each: nothing, while that row is finite",
    "output",
    run};

}  // namespace tare::traps
