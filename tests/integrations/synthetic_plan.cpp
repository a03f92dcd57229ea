// A plan of this machine that serves made-up decisions: what the tests of engines are driven with.
//
// TARE_SYNTHETIC_PROCESSOR and TARE_SYNTHETIC_KERNELS: as if it were of another machine or of other
// kernels.
// usage: synthetic_plan FILE ENGINE TITLE THREADS TYPE:KxN:ROWS[:CANDIDATE[:EQUALITY]]...
//   e.g. plan.json ggml "ggml 0.25.3" 2 q8_0:256x16:1:tare-grouped:bounded; 0 threads: all.
// CANDIDATE, EQUALITY: by default the kernel that this type has in ggml, and what it keeps.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "device/machine.h"
#include "formats/weight_format.h"
#include "judge/judge.h"
#include "kernels/identity.h"
#include "plan/isa_names.h"
#include "plan/plan.h"
#include "problem/problem.h"

namespace {

using namespace tare;

std::string given(const char* variable, const std::string& otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : value;
}

judge::Equality equality_of(std::string_view name) {
  using judge::Equality;
  for (const Equality one :
       {Equality::kIncumbent, Equality::kOneRow, Equality::kSelf, Equality::kBounded})
    if (judge::to_string(one) == name) return one;
  std::exit(2);
}

// ggml's bits are promised where the kernel is made for them.
plan::Decision decision_of(const char* text) {
  char type[32], arm[32] = "", equality[32] = "";
  unsigned long k = 0, n = 0;
  unsigned rows = 0;
  if (std::sscanf(text, "%31[^:]:%lux%lu:%u:%31[^:]:%31s", type, &k, &n, &rows, arm, equality) < 4)
    std::exit(2);
  const std::uint32_t number = formats::type_number(type);
  const bool plain = number == TARE_BF16;
  plan::Decision decision;
  decision.problem = {k,         n,        rows, number, problem::usual_activations(number),
                      TARE_BF16, TARE_F32, 0};
  decision.decision = judge::Decision::kServe;
  decision.equality = equality_of(*equality != '\0' ? equality : plain ? "incumbent" : "bounded");
  decision.candidate.arm = *arm != '\0' ? arm : plain ? "tare-panel-ggml" : "tare-grouped";
  decision.candidate.library = given("TARE_SYNTHETIC_KERNELS", kernels::library_text(TARE_VERSION));
  return decision;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) return 2;
  const device::Machine machine = device::inspect();
  const auto named = static_cast<std::uint32_t>(std::atoi(arguments[4]));
  const std::uint32_t threads = named == 0 ? machine.threads : named;
  plan::Plan plan;
  plan.keys = {given("TARE_SYNTHETIC_PROCESSOR", machine.processor),
               machine.cores,
               threads,
               plan::isa_names(machine.isa),
               "",
               {{arguments[2], arguments[3], "not asked for by engines"}}};
  for (int i = 5; i < count; ++i) {
    plan.decisions.push_back(decision_of(arguments[i]));
    plan.decisions.back().incumbent.arm = arguments[2];
  }
  plan::write_plan(arguments[1], plan);
}
