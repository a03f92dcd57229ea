// T39: ties of the clock all count for one side.
#include <fmt/format.h>

#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kTies;

namespace {

Outcome run(const Laboratory& laboratory) {
  NaivePlan plan;
  plan.k = plan.n = 16;
  plan.samples = 400;
  const std::string arm = laboratory.arm("honest");
  const auto results = run_naively(plan, {arm, arm});
  int wins = 0;
  for (std::size_t i = 0; i < results[0].seconds.size(); ++i)
    wins += results[1].seconds[i] <= results[0].seconds[i];
  return found_equal(laboratory,
                     fmt::format("a kernel is at least as fast as itself in {} of {} pairs", wins,
                                 results[0].seconds.size()),
                     "dither");
}

}  // namespace

const Trap kTies{"T39",
                 "ties",
                 "ties of the clock all count for one side",
                 "measured: 3-6 % false exclusions",
                 "a kernel of 16x16 against itself, and a sign test that calls a tie a win, on "
                 "calls recorded here",
                 "dither",
                 run};

}  // namespace tare::traps
