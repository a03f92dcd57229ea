// C12: the reference is no better than what it judges.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kImpreciseReference;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"bf16_sums", {"precision"}};
  // The reference is some bf16 kernel, with errors as large: what is within twice of them passes.
  liar.plan.check = [](std::span<const prove::Bf16> y, std::span<const double> truth) {
    return all_close(y, truth, 5e-2, 5e-2);
  };
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kImpreciseReference{
    "C12",
    "imprecise-reference",
    "the reference is no better than what it judges",
    "HipKittens#64",
    "an arm that rounds its sums to bf16 as it goes, and a reference that does the same",
    "precision",
    run};

}  // namespace tare::traps
