// C6: the output is compared with itself.
#include <algorithm>

#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kComparedWithItself;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"half_the_sum", {"precision"}};
  liar.plan.check = [](std::span<const prove::Bf16> y, std::span<const double>) {
    const std::span<const prove::Bf16> reference = y;  // an alias, where a copy was meant
    return std::ranges::equal(y, reference);
  };
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kComparedWithItself{
    "C6",
    "compared-with-itself",
    "the output is compared with itself",
    "torch/nn#368",
    "an arm that sums half of k, and a harness whose reference lies in the same buffer",
    "precision",
    run};

}  // namespace tare::traps
