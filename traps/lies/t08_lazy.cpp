// T8: a lazy kernel is timed and never evaluated.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kLazy;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"lazy", {"output"}};
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kLazy{"T8",
                 "lazy",
                 "a lazy kernel is timed and never evaluated",
                 "mlx-benchmark#21; MLX without eval; CUDA-L1#12",
                 "an arm that remembers what is to be done until somebody asks",
                 "output",
                 run};

}  // namespace tare::traps
