// T28: the two arms of an A/A test are not the same code.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kClonedCode;

namespace {

Outcome run(const Laboratory& laboratory) {
  NaivePlan plan;
  plan.samples = 400;
  const double one = run_naively(plan, {laboratory.arm("honest")}).front().median();
  const double other = run_naively(plan, {laboratory.arm("honest_cloned")}).front().median();
  return found_equal(laboratory,
                     "the kernel is " + times_as_fast(other / one, "itself, in another file"),
                     "control");
}

}  // namespace

const Trap kClonedCode{"T28",
                       "cloned-code",
                       "the two arms of an A/A test are not the same code",
                       "our own probe: clones that GCC made differed by 12-14 %",
                       "one source, compiled twice: for this processor, and for any",
                       "control",
                       run};

}  // namespace tare::traps
