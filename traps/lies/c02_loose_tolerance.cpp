// C2: the tolerance is wider than the output.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kLooseTolerance;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"wrong_zeros", {"precision"}};
  liar.plan.x_scale = 0x1p-10F;
  liar.plan.check = close_enough;
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kLooseTolerance{
    "C2",
    "loose-tolerance",
    "the tolerance is wider than the output",
    "KernelBench#165 (zeros pass); mlir-air#1427",
    "an arm that writes zeros, inputs scaled by 1/1024, and a tolerance of 1e-2",
    "precision",
    run};

}  // namespace tare::traps
