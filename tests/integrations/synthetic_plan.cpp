// A plan of this machine that serves made-up decisions: what the tests of engines are driven with.
//
// TARE_SYNTHETIC_PROCESSOR and TARE_SYNTHETIC_KERNELS: as if it were of another machine or of other
// kernels.
// usage: synthetic_plan FILE GGML-TITLE THREADS TYPE:KxN:ROWS[:ARM]...   e.g. q8_0:256x16:1
// 0 threads: all. ARM: the candidate; default the one that this type has.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "device/machine.h"
#include "formats/weight_format.h"
#include "kernels/identity.h"
#include "plan/isa_names.h"
#include "plan/plan.h"
#include "problem/problem.h"

namespace {

std::string given(const char* variable, const std::string& otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : value;
}

}  // namespace

int main(int count, char** arguments) {
  using namespace tare;
  if (count < 4) return 2;
  const device::Machine machine = device::inspect();
  const auto named = static_cast<std::uint32_t>(std::atoi(arguments[3]));
  const std::uint32_t threads = named == 0 ? machine.threads : named;
  plan::Plan plan;
  plan.keys = {given("TARE_SYNTHETIC_PROCESSOR", machine.processor),
               machine.cores,
               threads,
               plan::isa_names(machine.isa),
               "",
               {{"ggml", arguments[2], "not asked for by engines"}}};
  for (int i = 4; i < count; ++i) {
    char type[32], arm[32] = "";
    unsigned long k = 0, n = 0;
    unsigned rows = 0;
    if (std::sscanf(arguments[i], "%31[^:]:%lux%lu:%u:%31s", type, &k, &n, &rows, arm) < 4)
      return 2;
    plan::Decision decision;
    const std::uint32_t number = formats::type_number(type);
    decision.problem = {k,         n,       rows, number, problem::usual_activations(number),
                        TARE_BF16, TARE_F32};
    decision.decision = judge::Decision::kServe;
    // ggml's bits are promised where the kernel is made for them.
    decision.equality =
        number == TARE_BF16 ? judge::Equality::kIncumbent : judge::Equality::kBounded;
    const char* usual = number == TARE_BF16 ? "tare-panel-ggml" : "tare-grouped";
    decision.candidate.arm = *arm != '\0' ? arm : usual;
    decision.candidate.library =
        given("TARE_SYNTHETIC_KERNELS", kernels::library_text(TARE_VERSION));
    decision.incumbent.arm = "ggml";
    plan.decisions.push_back(decision);
  }
  plan::write_plan(arguments[1], plan);
}
