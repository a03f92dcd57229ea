// A plan of this machine that serves made-up decisions: what the tests of engines are driven with.
//
// usage: synthetic_plan FILE ENGINE TITLE THREADS TYPE:KxN:ROWS[:CANDIDATE[:EQUALITY]]...
//   e.g. plan.json ggml "ggml 0.25.3" 2 q8_0:256x16:1:tare-grouped:bounded; 0 threads: all
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "device/machine.h"
#include "formats/weight_format.h"
#include "judge/judge.h"
#include "kernels/identity.h"
#include "plan/isa_names.h"
#include "plan/plan.h"
#include "problem/problem.h"

namespace {

tare::judge::Equality equality_of(std::string_view name) {
  using tare::judge::Equality;
  for (const Equality one :
       {Equality::kIncumbent, Equality::kOneRow, Equality::kSelf, Equality::kBounded})
    if (tare::judge::to_string(one) == name) return one;
  std::exit(2);
}

}  // namespace

int main(int count, char** arguments) {
  using namespace tare;
  if (count < 5) return 2;
  const device::Machine machine = device::inspect();
  const auto named = static_cast<std::uint32_t>(std::atoi(arguments[4]));
  const std::uint32_t threads = named == 0 ? machine.threads : named;
  plan::Plan plan;
  plan.keys = {machine.processor,
               machine.cores,
               threads,
               plan::isa_names(machine.isa),
               "",
               {{arguments[2], arguments[3], "not asked for by engines"}}};
  for (int i = 5; i < count; ++i) {
    char type[32], candidate[32] = "", equality[32] = "bounded";
    unsigned long k = 0, n = 0;
    unsigned rows = 0;
    if (std::sscanf(arguments[i], "%31[^:]:%lux%lu:%u:%31[^:]:%31s", type, &k, &n, &rows, candidate,
                    equality) < 4)
      return 2;
    plan::Decision decision;
    const std::uint32_t number = formats::type_number(type);
    decision.problem = {k,         n,       rows, number, problem::usual_activations(number),
                        TARE_BF16, TARE_F32};
    decision.decision = judge::Decision::kServe;
    decision.equality = equality_of(equality);
    decision.candidate.arm = candidate;
    decision.candidate.library = kernels::library_text(TARE_VERSION);
    decision.incumbent.arm = arguments[2];
    plan.decisions.push_back(decision);
  }
  plan::write_plan(arguments[1], plan);
}
