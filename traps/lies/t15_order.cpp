// T15: the arm that runs first pays for both.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kOrder;

namespace {

Outcome run(const Laboratory& laboratory) {
  NaivePlan plan;
  plan.samples = 8;
  plan.warm_up = false;
  const std::string onednn = laboratory.module("onednn");
  const auto results = run_naively(plan, {onednn, onednn});
  return found_equal(
      laboratory,
      "oneDNN is " + times_as_fast(results[0].mean() / results[1].mean(), "itself, run before"),
      "control");
}

}  // namespace

const Trap kOrder{
    "T15",
    "order",
    "the arm that runs first pays for both",
    "TileOPs#2110 (1-8 %); tensai#199 (1.7x was order); llama.cpp#18570",
    "the same kernel twice in one process, in fixed order, eight calls each and no warm-up",
    "control",
    run};

}  // namespace tare::traps
