// T36: two libraries in one process get in each other's way.
#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kSharedProcess;

namespace {

// Another library that can be loaded here.
struct Guest {
  std::string name;
  double seconds = 0;  // of oneDNN beside it; 0: there is none
};
Guest first_guest(const Laboratory& laboratory, const NaivePlan& plan) {
  for (const char* name : {"ggml", "mlx", "openblas"}) {
    const auto results = run_naively(plan, {laboratory.module(name), laboratory.module("onednn")});
    if (results.back().mean() > 0) return {name, results.back().mean()};
  }
  return {};
}

Outcome run(const Laboratory& laboratory) {
  NaivePlan plan;
  plan.threads = 2;
  plan.samples = 200;
  const double alone = run_naively(plan, {laboratory.module("onednn")}).front().mean();
  const Guest guest = first_guest(laboratory, plan);
  if (guest.seconds == 0) fail(Blame::kMachine, "No other library is there: tare doctor says why.");
  return found_equal(laboratory,
                     fmt::format("oneDNN takes {:.1f} us alone, and {:.1f} us in a process with {}",
                                 1e6 * alone, 1e6 * guest.seconds, guest.name),
                     "arm hosts");
}

}  // namespace

const Trap kSharedProcess{
    "T36",
    "shared-process",
    "two libraries in one process get in each other's way",
    "libdnnl.so.2 beside .so.3",
    "oneDNN and another library loaded into one process, one after the other on all processors",
    "arm hosts",
    run};

}  // namespace tare::traps
