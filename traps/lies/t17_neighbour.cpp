// T17: a neighbour is at work while one arm is measured.
#include "device/neighbour.h"
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kNeighbour;

namespace {

Outcome beside_it(const Laboratory& laboratory, const std::string& naive) {
  const Headroom run = laboratory.headroom(cold_row({"--arm", laboratory.arm("honest")}));
  Outcome outcome = found_equal(run.row(), naive, "noise");
  for (const judge::Finding& finding : run.row().judgement.gates)
    if (finding.gate == "noise" && !finding.sentence.empty()) outcome.sentence = finding.sentence;
  return outcome;
}

Outcome run(const Laboratory& laboratory) {
  NaivePlan plan;
  plan.copies = 128;
  plan.samples = 4000;
  const std::string onednn = laboratory.module("onednn");
  const double before = run_naively(plan, {onednn}).front().mean();
  const device::Neighbour neighbour(device::NeighbourKind::kBus);
  const double after = run_naively(plan, {onednn}).front().mean();
  const std::string naive = "oneDNN is " + times_as_fast(before / after, "itself, a minute ago");
  // Luck of one set of processes can be a per cent ([0.947, 0.990] was seen): found again in fresh
  // ones, or not believed.
  const Outcome first = beside_it(laboratory, naive);
  return first.caught ? first : beside_it(laboratory, naive);
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
