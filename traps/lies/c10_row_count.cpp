// C10: the bits of a row depend on how many there are.
#include <fmt/format.h>

#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kRowCount;

namespace {

Outcome run(const Laboratory& laboratory) {
  const auto arguments = cold_row({"--rows", "1,4", "--arm", laboratory.arm("order_by_rows")});
  const Headroom run = laboratory.headroom(arguments);
  const judge::Bits one = run.row(0).judgement.bits, four = run.row(1).judgement.bits;
  Outcome outcome{
      fmt::format("at one row its bits are {}", judge::to_string(one)),
      fmt::format("at four rows its bits {}, {}", judge::to_string(four), words_of(run.row(1))), "",
      "", four == judge::Bits::kDiffer};
  if (outcome.caught) outcome.gate = "bits";
  const weigh::Proof& proof = run.row(1).weighing.proof;
  outcome.sentence =
      fmt::format("{} of {} output elements differ at four rows: trade at best, never serve",
                  proof.differing, proof.elements);
  return outcome;
}

}  // namespace

const Trap kRowCount{
    "C10",
    "row-count",
    "the bits of a row depend on how many there are",
    "sglang#27869; vllm#51902; oneDNN#1443; llama.cpp#28111",
    "an arm with the incumbent's bits at one row, and another order of additions from two on",
    "bits",
    run};

}  // namespace tare::traps
