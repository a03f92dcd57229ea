// T16: an arm that is fast while it is fresh.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kTiring;

namespace {

Outcome run(const Laboratory& laboratory) {
  NaivePlan five;
  five.samples = 5;
  const double honest = run_naively(five, {laboratory.arm("honest")}).front().least();
  const double candidate = run_naively(five, {laboratory.arm("tires")}).front().least();
  const Headroom run =
      laboratory.headroom(hot_row({"--arm", laboratory.arm("tires"), "--seconds-per-row", "0.6"}));
  return refused_by(run.row(), {"drift"},
                    times_as_fast(honest / candidate, "its honest twin") + ", best of five");
}

}  // namespace

const Trap kTiring{"T16",
                   "tiring",
                   "an arm is fast while it is fresh, and a short benchmark ends by then",
                   "imp#1469; composable_kernel#1241",
                   "an arm that takes 1 % longer with every region",
                   "drift",
                   run};

}  // namespace tare::traps
