// T3: one arm plans and packs in every call, the other was prepared.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kPerCall;

namespace {

// An arm is never per call alone: both are weighed in the mode of the row.
Outcome run(const Laboratory& laboratory) {
  NaivePlan per_call;
  per_call.prepare_inside = true;
  const double incumbent = run_naively(per_call, {laboratory.module("onednn")}).front().mean();
  const double candidate = run_naively({}, {laboratory.arm("honest")}).front().mean();
  const double ratio = incumbent / candidate;
  const Headroom run = laboratory.headroom(cold_row({"--arm", laboratory.arm("honest")}));
  return denied(run.row(), ratio, times_as_fast(ratio), "mode");
}

}  // namespace

const Trap kPerCall{"T3",
                    "per-call",
                    "one arm plans and packs in every call, the other was prepared",
                    "meTile int4 0.05x; oneDNN#1115, #832",
                    "oneDNN prepared inside the loop, a kernel prepared before it",
                    "mode",
                    run};

}  // namespace tare::traps
