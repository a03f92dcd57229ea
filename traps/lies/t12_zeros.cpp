// T12: data of zeros, as they come from the allocator.
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kZeros;

namespace {

Outcome run(const Laboratory& laboratory) {
  NaivePlan zeros;
  zeros.zero_weights = true;
  zeros.check = close_enough;
  const NaiveResult incumbent = run_naively(zeros, {laboratory.module("onednn")}).front();
  const NaiveResult candidate = run_naively(zeros, {laboratory.arm("skips_zeros")}).front();
  const double ratio = incumbent.mean() / candidate.mean();
  const Headroom run = laboratory.headroom(cold_row({"--arm", laboratory.arm("skips_zeros")}));
  return denied(run.row(), ratio, times_as_fast(ratio) + ", its check passed", "drawn data");
}

}  // namespace

const Trap kZeros{"T12",
                  "zeros",
                  "data of zeros, as they come from the allocator",
                  "cutlass#2004 (7 %), Tensile#2118 (40 %); H200: 13 % faster on zeros",
                  "a kernel that skips zero weights, weighed on zeros",
                  "drawn data",
                  run};

}  // namespace tare::traps
