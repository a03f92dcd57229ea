// T21: one arm computes in a narrower type.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kPrecision;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"int8_weights", {"precision"}};
  liar.plan.copies = 128;
  liar.plan.samples = 256;
  liar.plan.check = [](std::span<const prove::Bf16> y, std::span<const double> truth) {
    return all_close(y, truth, 5e-2, 5e-2);
  };
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kPrecision{"T21",
                      "precision",
                      "one arm computes in a narrower type",
                      "CUDA-Agent#16 (7x free); batch_invariant_ops#23",
                      "an arm that rounds its weights to 8 bits, and a check of 5 %",
                      "precision",
                      run};

}  // namespace tare::traps
