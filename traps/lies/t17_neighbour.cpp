// T17: a neighbour is at work while one arm is measured.
#include "device/neighbour.h"
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kNeighbour;

namespace {

Outcome run(const Laboratory& laboratory) {
  NaivePlan plan;
  plan.copies = 128;
  plan.samples = 4000;
  const std::string onednn = laboratory.module("onednn");
  const double before = run_naively(plan, {onednn}).front().mean();
  const device::Neighbour neighbour(device::NeighbourKind::kBus);
  const double after = run_naively(plan, {onednn}).front().mean();
  return found_equal(laboratory, cold_row({"--arm", laboratory.arm("honest")}),
                     "oneDNN is " + times_as_fast(before / after, "itself, a minute ago"), "noise");
}

}  // namespace

const Trap kNeighbour{
    "T17",
    "neighbour",
    "a neighbour is at work while one arm is measured",
    "lemire.me 2018",
    "a process that copies memory without end, beside the second arm; the arms are one kernel",
    "noise",
    run};

}  // namespace tare::traps
