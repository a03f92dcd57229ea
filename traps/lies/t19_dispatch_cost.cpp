// T19: what a dispatch costs hides the kernel.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kDispatchCost;

namespace {

// What is to be told apart here is a tenth of a microsecond: one look may be too noisy for it.
constexpr int kLooks = 3;

Outcome look(const Laboratory& laboratory) {
  NaivePlan plan;
  plan.k = 32;
  plan.n = 64;
  plan.samples = 2000;
  const double incumbent = run_naively(plan, {laboratory.module("onednn")}).front().median();
  const double candidate = run_naively(plan, {laboratory.arm("honest")}).front().median();
  const Headroom run = laboratory.headroom(
      hot_row({"--shape", "32x64", "--traffic", "4e6", "--arm", laboratory.arm("honest")}));
  const report::Row& row = run.row();
  const double ratio = incumbent / candidate;
  Outcome outcome = denied(row, ratio, times_as_fast(ratio) + ": serve it", "overhead");
  const bool kept = row.judgement.decision != judge::Decision::kServe;
  if (row.judgement.dispatch_win) outcome.gate = "dispatch win";
  if (kept && outcome.gate.empty()) outcome.gate = "decision";
  outcome.caught = kept;
  return outcome;
}

Outcome run(const Laboratory& laboratory) {
  Outcome outcome = look(laboratory);
  for (int again = 1; again < kLooks && !outcome.caught; ++again) outcome = look(laboratory);
  return outcome;
}

}  // namespace

const Trap kDispatchCost{"T19",
                         "dispatch-cost",
                         "what a dispatch costs hides the kernel",
                         "helion#2803; pytorch#179246",
                         "a projection of 32x64, for which a library's call is most of the time",
                         "overhead",
                         run};

}  // namespace tare::traps
