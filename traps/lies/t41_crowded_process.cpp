// T41: what else the process holds slows the arm.
#include <fmt/format.h>

#include "traps/device_row.h"
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kCrowdedProcess;

namespace {

Outcome run(const Laboratory& laboratory) {
  const NaivePlan plan = on_device();
  const std::string cublas = laboratory.module("cublas"), crowd = laboratory.arm("gpu_crowds");
  const double alone = run_naively(plan, {cublas}).front().median();
  const double crowded = run_naively(plan, {crowd, cublas}).back().median();
  return found_equal(
      laboratory, device_row({"--arm", crowd}),
      fmt::format("cuBLAS takes {:.2f} us alone, and {:.2f} us in a process with eight streams",
                  1e6 * alone / plan.dispatches, 1e6 * crowded / plan.dispatches),
      "arm hosts");
}

}  // namespace

const Trap kCrowdedProcess{"T41",
                           "crowded-process",
                           "what else the process holds slows the arm",
                           "measured on H200: 0.35 us a graph node",
                           "cuBLAS in one process with an arm that holds eight streams",
                           "arm hosts",
                           run,
                           true};

}  // namespace tare::traps
