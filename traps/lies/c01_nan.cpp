// C1: NaN passes a comparison: NaN > tolerance is false.
#include <cmath>

#include "prove/compare.h"
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kNan;

namespace {

Outcome run(const Laboratory& laboratory) {
  Liar liar{"returns_nan", {"output"}};
  liar.plan.check = [](std::span<const prove::Bf16> y, std::span<const double> truth) {
    for (std::size_t i = 0; i < y.size(); ++i)
      if (std::fabs(prove::to_float(y[i]) - truth[i]) > 1e-2 + 1e-2 * std::fabs(truth[i]))
        return false;
    return true;
  };
  return run_liar(laboratory, liar);
}

}  // namespace

const Trap kNan{"C1",
                "nan",
                "NaN passes a comparison: NaN > tolerance is false",
                "meTile compile(); flashinfer-bench; pygpubench",
                "an arm with a NaN in every output, and a check that looks for an error too large",
                "output",
                run};

}  // namespace tare::traps
