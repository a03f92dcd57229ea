// What only a GPU can show: the same small product by cuBLAS on both sides, and a lie in one
// function of the device arm.
#include <fmt/format.h>

#include "traps/device_row.h"
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kGraphMadeInside, kWarmL2, kGraphOnOneSide, kUnawaitedLaunch, kNothingLaunched,
    kTamperedEvent;

namespace {

constexpr const char* kIncumbent = "cuBLAS";

double naive_ratio(const Laboratory& laboratory, const NaivePlan& honest, const NaivePlan& lying,
                   const std::string& arm) {
  const double truth = run_naively(honest, {laboratory.module("cublas")}).front().mean();
  return truth / run_naively(lying, {laboratory.arm(arm)}).front().mean();
}

Outcome run_device_liar(const Laboratory& laboratory, const std::string& arm,
                        const std::vector<std::string>& gates, const NaivePlan& plan) {
  const double ratio = naive_ratio(laboratory, plan, plan, arm);
  const auto arguments = device_row({"--arm", laboratory.arm(arm)});
  return refused_by(laboratory.headroom(arguments).row(), gates, times_as_fast(ratio, kIncumbent));
}

// T2
Outcome make_graph_inside(const Laboratory& laboratory) {
  return run_device_liar(laboratory, "gpu_graph_inside", {"clocks", "faults", "overhead"},
                         on_device());
}

// T4, T33
Outcome stay_in_l2(const Laboratory& laboratory) {
  NaivePlan plan = on_device();
  plan.copies = 1;
  const double seconds = run_naively(plan, {laboratory.module("cublas")}).front().mean();
  const double gbps = 2.0 * static_cast<double>(plan.k * plan.n) * plan.dispatches / seconds / 1e9;
  const auto arguments = device_row({"--candidate", "tare-cuda"}, "2e7");
  return refused_by(laboratory.headroom(arguments).row(), {"ring"},
                    fmt::format("cuBLAS reads its weights at {:.0f} GB/s", gbps));
}

// T8
Outcome wait_for_nothing(const Laboratory& laboratory) {
  return run_device_liar(laboratory, "gpu_unawaited", {"clocks", "overhead", "floor", "limit"},
                         on_device());
}

// T10, T11
Outcome launch_nothing(const Laboratory& laboratory) {
  return run_device_liar(laboratory, "gpu_launches_nothing", {"output"}, on_device());
}

// T34
Outcome tamper_with_events(const Laboratory& laboratory) {
  NaivePlan plan = on_device();
  plan.device_clock = true;
  return run_device_liar(laboratory, "gpu_tampered_event", {"clocks"}, plan);
}

// T19. The gain is real for who launches call by call; that it is no faster kernel must be said.
Outcome launch_a_graph(const Laboratory& laboratory) {
  NaivePlan honest = on_device();
  honest.one_by_one = true;
  const double ratio = naive_ratio(laboratory, honest, on_device(), "gpu_always_a_graph");
  const auto arguments =
      device_row({"--stream-launches", "--arm", laboratory.arm("gpu_always_a_graph")});
  const Headroom run = laboratory.headroom(arguments);
  const report::Row& row = run.row();
  Outcome outcome{times_as_fast(ratio, kIncumbent), words_of(row), "", row.judgement.cause_sentence,
                  false};
  if (row.judgement.dispatch_win) outcome.gate = "dispatch win";
  if (row.judgement.verdict == judge::Verdict::kRefused) outcome.gate = row.judgement.cause;
  outcome.caught = !outcome.gate.empty();
  return outcome;
}

}  // namespace

const Trap kGraphMadeInside{"T2 GPU",
                            "graph-made-inside",
                            "a graph is captured and instantiated in the timed part",
                            "oneDNN#720; TiledBench#2; any first call",
                            "the region is staged again in its own launch",
                            "clocks, faults, overhead",
                            make_graph_inside,
                            true};
const Trap kWarmL2{
    "T33 GPU",
    "warm-l2",
    "weights stay in the GPU's L2",
    "flashinfer#4468; llm.c#851",
    "one copy of the weights in every dispatch; for Tare, a ring smaller than the L2",
    "ring",
    stay_in_l2,
    true};
const Trap kGraphOnOneSide{"T19",
                           "graph-on-one-side",
                           "one arm is launched from a graph, the other call by call",
                           "helion#2803; pytorch#179246",
                           "the same kernel on both sides; one does not heed that regions are "
                           "launched call by call",
                           "overhead, clocks",
                           launch_a_graph,
                           true};
const Trap kUnawaitedLaunch{"T8 GPU",
                            "unawaited-launch",
                            "the GPU's work is not awaited",
                            "mlx-benchmark#21; CUDA-L1#12",
                            "its fence returns at once",
                            "clocks, overhead, floor, limit",
                            wait_for_nothing,
                            true};
const Trap kNothingLaunched{"T11 GPU",
                            "nothing-launched",
                            "nothing is launched at all",
                            "our own probe read 103,438 GB/s; kernelbot#501",
                            "its launch returns at once",
                            "output",
                            launch_nothing,
                            true};
const Trap kTamperedEvent{"T34 GPU",
                          "tampered-event",
                          "the candidate's own events say how long it took",
                          "pygpubench's exploits; reference-kernels#162 (time 0.000)",
                          "a third of what the events measured is told",
                          "clocks",
                          tamper_with_events,
                          true};

}  // namespace tare::traps
