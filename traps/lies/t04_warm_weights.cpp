// T4: weights stay in cache in the benchmark, and are cold in a real decode.
#include <fmt/format.h>

#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kWarmWeights;

namespace {

Outcome run(const Laboratory& laboratory) {
  const NaivePlan plan;
  const double seconds = run_naively(plan, {laboratory.module("onednn")}).front().mean();
  const double gbps = 2.0 * static_cast<double>(plan.k * plan.n) / seconds / 1e9;
  const auto arguments = cold_row({"--ring", "8e6", "--arm", laboratory.arm("honest")});
  return refused_by(laboratory.headroom(arguments).row(), {"ring"},
                    fmt::format("oneDNN reads its weights at {:.0f} GB/s", gbps));
}

}  // namespace

const Trap kWarmWeights{
    "T4",
    "warm-weights",
    "weights stay in cache in the benchmark, and are cold in a real decode",
    "ml-explore/mlx#3852; TileGym#118 (1.6x); oneDNN#695; llama.cpp#8898",
    "one copy of the weights, read again in every call; for Tare, a ring smaller than the cache",
    "ring",
    run};

}  // namespace tare::traps
