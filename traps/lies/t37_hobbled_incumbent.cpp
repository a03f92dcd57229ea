// T37: the environment hobbles the incumbent.
#include <cstdlib>
#include <string_view>

#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kHobbledIncumbent;

namespace {

Outcome run(const Laboratory& laboratory) {
  const Environment hobble{{"ONEDNN_MAX_CPU_ISA", "AVX512_CORE"}};
  const double candidate = run_naively({}, {laboratory.arm("honest")}).front().mean();
  setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE", 1);
  const double incumbent = run_naively({}, {laboratory.module("onednn")}).front().mean();
  unsetenv("ONEDNN_MAX_CPU_ISA");
  const Headroom run = laboratory.headroom(cold_row({"--arm", laboratory.arm("honest")}), hobble);
  Outcome outcome{times_as_fast(incumbent / candidate), words_of(run.row()), "", "", false};
  const weigh::Arm* arm = weigh::arm_of(run.row().weighing, weigh::Role::kIncumbent);
  const bool named = run.complaints.find("ONEDNN_MAX_CPU_ISA") != std::string::npos;
  const bool free = arm != nullptr && std::string_view(arm->dispatched.isa) != "AVX-512";
  outcome.caught = named && free;
  outcome.gate = outcome.caught ? "environment" : "";
  outcome.sentence = run.complaints.substr(0, run.complaints.find('\n'));
  return outcome;
}

}  // namespace

const Trap kHobbledIncumbent{"T37",
                             "hobbled-incumbent",
                             "the environment hobbles the incumbent",
                             "OPENBLAS_CORETYPE found set on a test machine",
                             "ONEDNN_MAX_CPU_ISA=AVX512_CORE, left over from somebody's debugging",
                             "environment",
                             run};

}  // namespace tare::traps
