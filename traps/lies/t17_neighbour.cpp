// T17: a neighbour burns the processors while one arm is measured.
#include "traps/laboratory.h"
#include "traps/neighbours.h"

namespace tare::traps {
extern const Trap kNeighbour;

namespace {

Outcome run(const Laboratory& laboratory) {
  NaivePlan plan;
  plan.samples = 2000;
  const std::string onednn = laboratory.module("onednn");
  const double before = run_naively(plan, {onednn}).front().mean();
  const Neighbours neighbours;
  const double after = run_naively(plan, {onednn}).front().mean();
  const Headroom run = laboratory.headroom(cold_row({"--arm", laboratory.arm("honest")}));
  Outcome outcome = found_equal(
      run.row(), "oneDNN is " + times_as_fast(before / after, "itself, a minute ago"), "noise");
  for (const judge::Finding& finding : run.row().judgement.gates)
    if (finding.gate == "noise" && !finding.sentence.empty()) outcome.sentence = finding.sentence;
  return outcome;
}

}  // namespace

const Trap kNeighbour{
    "T17",
    "neighbour",
    "a neighbour burns the processors while one arm is measured",
    "lemire.me 2018",
    "one process a processor that spins, beside the second arm; the arms are one kernel",
    "noise",
    run};

}  // namespace tare::traps
