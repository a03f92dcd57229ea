// T22: packing is free for one side.
#include <fmt/format.h>

#include <cmath>

#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kPacking;

namespace {

Outcome run(const Laboratory& laboratory) {
  const std::string arm = laboratory.arm("packs_for_ages");
  const double incumbent = run_naively({}, {laboratory.module("onednn")}).front().mean();
  const double candidate = run_naively({}, {arm}).front().mean();
  const Headroom run = laboratory.headroom(cold_row({"--arm", arm}));
  const report::Row& row = run.row();
  const weigh::Arm* packer = weigh::arm_of(row.weighing, weigh::Role::kCandidate);
  const double seconds = packer != nullptr ? packer->prepare_seconds : 0;
  const double pays = row.judgement.break_even_dispatches;
  Outcome outcome{times_as_fast(incumbent / candidate) + ", packing not mentioned", words_of(row),
                  "", "", seconds >= 0.02 && pays > 0};
  if (outcome.caught) outcome.gate = "prepare";
  outcome.sentence =
      fmt::format("preparing takes {:.1f} ms a matrix, {}", 1e3 * seconds,
                  std::isfinite(pays) ? fmt::format("and pays after {:.0f} dispatches", pays)
                                      : "and never pays");
  return outcome;
}

}  // namespace

const Trap kPacking{"T22",
                    "packing",
                    "packing is free for one side",
                    "oneDNN#832",
                    "an arm that needs 20 ms to pack a matrix, and a harness that times calls only",
                    "prepare",
                    run};

}  // namespace tare::traps
