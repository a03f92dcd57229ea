// T6: a persisting-L2 carve-out survives flushes.
#include "traps/device_row.h"
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kPersistingL2;

namespace {

Outcome run(const Laboratory& laboratory) {
  const NaivePlan plan = on_device();
  const std::string lying = laboratory.arm("gpu_persists"), twin = laboratory.arm("gpu_forgets");
  const double truth = run_naively(plan, {twin}).front().mean();
  const double lie = run_naively(plan, {lying}).front().mean();
  return refused_by(laboratory.headroom(device_row({"--arm", lying})).row(), {"ring"},
                    times_as_fast(truth / lie, "its honest twin, through 75 MB of weights"));
}

}  // namespace

const Trap kPersistingL2{
    "T6",
    "persisting-l2",
    "a persisting-L2 carve-out survives flushes",
    "llm.c#851 (3530 vs 714 GB/s); nvbench#458",
    "an arm that keeps as much of the L2 as it may for lines that persist, and "
    "has part of its weights there; its honest twin does not",
    "ring",
    run,
    true};

}  // namespace tare::traps
