// T16: the processors slow down while it is measured.
#include "traps/laboratory.h"
#include "traps/throttle.h"

namespace tare::traps {
extern const Trap kThrottling;

namespace {

Outcome run(const Laboratory& laboratory) {
  NaivePlan plan;
  plan.samples = 60'000;  // longer than two phases
  const std::string onednn = laboratory.module("onednn");
  const double before = run_naively(plan, {onednn}).front().mean();
  const Throttle throttle(std::chrono::milliseconds(300));
  const double after = run_naively(plan, {onednn}).front().mean();
  return found_equal(
      laboratory, cold_row({"--seconds-per-row", "2", "--arm", laboratory.arm("honest")}),
      "oneDNN is " + times_as_fast(before / after, "itself, before"), "paired rounds");
}

}  // namespace

const Trap kThrottling{
    "T16",
    "throttling",
    "the processors slow down while it is measured",
    "imp#1469; triton#2306 (30 %); composable_kernel#1241",
    "one kernel before and after the machine falls to half its speed, in every other 300 ms",
    "paired rounds",
    run};

}  // namespace tare::traps
