// T36: two libraries in one process get in each other's way.
#include <fmt/format.h>

#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kSharedProcess;

namespace {

Outcome run(const Laboratory& laboratory) {
  NaivePlan plan;
  plan.threads = 2;
  plan.samples = 200;
  const std::string onednn = laboratory.module("onednn"), ggml = laboratory.module("ggml");
  const double alone = run_naively(plan, {onednn}).front().mean();
  const double beside = run_naively(plan, {ggml, onednn}).back().mean();
  return found_equal(laboratory.equal_arms(),
                     fmt::format("oneDNN takes {:.1f} us alone, and {:.1f} us in a process with "
                                 "ggml",
                                 1e6 * alone, 1e6 * beside),
                     "arm hosts");
}

}  // namespace

const Trap kSharedProcess{
    "T36",
    "shared-process",
    "two libraries in one process get in each other's way",
    "libdnnl.so.2 beside .so.3",
    "ggml and oneDNN loaded into one process, one after the other on all processors",
    "arm hosts",
    run};

}  // namespace tare::traps
