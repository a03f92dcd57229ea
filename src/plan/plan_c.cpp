// include/tare/plan.h over plan.h.
#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string_view>
#include <vector>

#include "base/reason.h"
#include "device/machine.h"
#include "plan/holds.h"
#include "plan/plan.h"
#include "tare/plan.h"

struct tare_plan {
  tare::plan::Plan plan;
};

namespace {

using tare::write_reason;
using tare::judge::Equality;
using tare::plan::Decision;

// Runs `reason`, which returns why not ("" for yes).
template <typename Reason>
int answered(char* why, std::size_t why_size, Reason&& reason) noexcept {
  try {
    const std::string sentence = reason();
    write_reason(why, why_size, sentence);
    return sentence.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    write_reason(why, why_size, error.what());
  }
  return 1;
}

std::string against(const tare::plan::Plan& plan, const tare_plan_engine& engine) {
  const std::string accelerator = engine.accelerator == nullptr ? "" : engine.accelerator;
  if (plan.keys.accelerator != accelerator)
    return fmt::format("it was made for {}, and this is {}.",
                       plan.keys.accelerator.empty() ? "the processor" : plan.keys.accelerator,
                       accelerator.empty() ? "the processor" : accelerator);
  const auto reasons = tare::plan::reasons_against_machine(plan.keys, tare::device::inspect());
  if (!reasons.empty()) return reasons.front();
  for (const tare::plan::Module& module : plan.keys.modules)
    if (module.arm == engine.arm && module.title != engine.title)
      return fmt::format("it was made with {}, and this is {}.", module.title, engine.title);
  return "";
}

// Whether an arm is the engine: "ggml-repack" is ggml in another layout.
bool is_engine(const std::string& arm, std::string_view engine) {
  return arm == engine || arm.starts_with(std::string(engine) + "-");
}

std::string against(const Decision& decision, const tare_plan_engine& engine) {
  if (decision.decision != tare::judge::Decision::kServe)
    return fmt::format("{}: {}", tare::judge::to_string(decision.decision), decision.reason);
  if (decision.candidate.library != engine.kernels)
    return fmt::format("it was weighed with {}, and this is {}", decision.candidate.library,
                       engine.kernels);
  const bool as_incumbent =
      decision.equality == Equality::kIncumbent || decision.equality == Equality::kOneRow;
  if (as_incumbent && !is_engine(decision.incumbent.arm, engine.arm))
    return fmt::format("its bits are those of {}, not of this engine", decision.incumbent.title);
  return "";
}

}  // namespace

tare_plan* tare_plan_open(const char* path, char* why, size_t why_size) {
  std::unique_ptr<tare_plan> plan;
  answered(why, why_size, [&] {
    plan = std::make_unique<tare_plan>(tare_plan{tare::plan::read_plan(path)});
    return std::string();
  });
  return plan.release();
}

void tare_plan_close(tare_plan* plan) {
  delete plan;
}

int tare_plan_holds(const tare_plan* plan, const tare_plan_engine* engine, char* why,
                    size_t why_size) {
  return answered(why, why_size, [&] { return against(plan->plan, *engine); });
}

uint32_t tare_plan_threads(const tare_plan* plan) {
  return plan->plan.keys.threads;
}

int tare_plan_serves(const tare_plan* plan, const tare_plan_engine* engine,
                     const tare_problem* problem, tare_plan_decision* decision, char* why,
                     size_t why_size) {
  return answered(why, why_size, [&]() -> std::string {
    const Decision* found = tare::plan::find(plan->plan, *problem);
    if (found == nullptr) return "not in the plan";
    if (std::string reason = against(*found, *engine); !reason.empty()) return reason;
    if (decision != nullptr)
      *decision = {found->ratio, found->interval.low, found->interval.high,
                   tare::judge::to_string(found->equality), found->candidate.arm.c_str()};
    return "";
  });
}

size_t tare_plan_rows(const tare_plan* plan, const tare_plan_engine* engine,
                      const tare_problem* problem, uint32_t* rows, size_t most) {
  std::vector<std::uint32_t> all;
  answered(nullptr, 0, [&]() -> std::string {
    tare_problem own = *problem;
    for (const Decision& decision : plan->plan.decisions) {
      own.rows = decision.problem.rows;
      if (tare::plan::same_problem(decision.problem, own) && against(decision, *engine).empty())
        all.push_back(own.rows);
    }
    return "";
  });
  std::ranges::sort(all);
  std::copy_n(all.begin(), std::min(all.size(), most), rows);
  return all.size();
}

int tare_plan_serves_some_rows(const tare_plan* plan, const tare_plan_engine* engine,
                               const tare_problem* problem) {
  return tare_plan_rows(plan, engine, problem, nullptr, 0) > 0 ? 0 : 1;
}
