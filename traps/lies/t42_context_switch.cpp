// T42: the hand-over between processes is paid inside the region.
#include <fmt/format.h>

#include <future>

#include "traps/device_row.h"
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kContextSwitch;

namespace {

// Two harnesses at once, each with a process of its own: now and then the GPU goes from one to the
// other as a region begins.
Outcome run(const Laboratory& laboratory) {
  NaivePlan plan = on_device();
  plan.samples = 400;
  const std::string cublas = laboratory.module("cublas");
  const auto measure = [&] { return run_naively(plan, {cublas}).front().mean(); };
  const double alone = measure();
  auto other = std::async(std::launch::async, measure);
  const double by_turns = measure();
  other.get();
  return found_equal(laboratory, device_row({"--candidate", "tare-cuda"}),
                     fmt::format("a region of cuBLAS takes {:.0f} us, and {:.0f} us by turns with "
                                 "another process",
                                 1e6 * alone, 1e6 * by_turns),
                     "opening dispatch");
}

}  // namespace

const Trap kContextSwitch{"T42",
                          "context-switch",
                          "the hand-over between processes is paid inside the region",
                          "measured on H200: 150 us on the host's clock",
                          "two processes weigh cuBLAS by turns on one GPU, by the host's clock",
                          "opening dispatch",
                          run,
                          true};

}  // namespace tare::traps
