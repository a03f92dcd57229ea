// T38: luck of placement: the same code on other memory.
#include <algorithm>
#include <cmath>

#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kPlacement;

namespace {

Outcome run(const Laboratory& laboratory) {
  NaivePlan plan;
  plan.small_pages = true;
  plan.samples = 300;
  double least = HUGE_VAL, most = 0;
  for (int look = 0; look < 8; ++look) {
    const double seconds = run_naively(plan, {laboratory.arm("honest")}).front().median();
    least = std::min(least, seconds);
    most = std::max(most, seconds);
  }
  const std::string naive =
      "the kernel is " + times_as_fast(most / least, "itself, elsewhere in memory");
  return found_equal(laboratory, naive, "control");
}

}  // namespace

const Trap kPlacement{"T38",
                      "placement",
                      "luck of placement: the same code on other memory",
                      "measured here: 6-7 % hot, 7 % cold on 4 KiB pages",
                      "one kernel, eight processes, each with its copies on 4 KiB pages of its own",
                      "control",
                      run};

}  // namespace tare::traps
