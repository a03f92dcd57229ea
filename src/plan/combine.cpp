#include "plan/combine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "formats/weight_format.h"

namespace tare::plan {
namespace {

std::string name_of(const Decision& decision) {
  const tare_problem& p = decision.problem;
  return fmt::format("{} {} {}x{} {}{}, {} row{}", decision.model, decision.projection, p.k, p.n,
                     formats::type_name(p.weights), p.bias == 0 ? "" : " + bias", p.rows,
                     p.rows == 1 ? "" : "s");
}

// A refusal decided nothing: any verdict stands before it.
int care(const Decision& decision) {
  if (decision.verdict == judge::Verdict::kRefused) return -1;
  switch (decision.decision) {
    case judge::Decision::kKeep:
      return 2;
    case judge::Decision::kTrade:
      return 1;
    default:
      return 0;
  }
}

void add(std::vector<Decision>& all, const Decision& decision) {
  const auto same = [&](const Decision& other) {
    return same_problem(other.problem, decision.problem);
  };
  const auto found = std::ranges::find_if(all, same);
  if (found == all.end())
    all.push_back(decision);
  else if (care(decision) > care(*found))
    *found = decision;
}

std::string text_of(const Module& module) {
  return fmt::format("{} ({})", module.title, module.digest);
}

// A module that only one of the plans rests on is no difference; one of another build is.
void merge_modules(std::vector<Module>& all, const std::vector<Module>& more) {
  for (const Module& module : more) {
    const auto found = std::ranges::find(all, module.arm, &Module::arm);
    if (found == all.end())
      all.push_back(module);
    else if (found->title != module.title || found->digest != module.digest)
      fail(Blame::kInput, "The plans are of different builds: one has {}, another {}.",
           text_of(*found), text_of(module));
  }
}

std::vector<std::string> key_differences(const Keys& before, const Keys& after) {
  std::vector<std::string> lines;
  const auto tell = [&](const char* what, const std::string& a, const std::string& b) {
    if (a != b) lines.push_back(fmt::format("{}: {} -> {}", what, a, b));
  };
  tell("processor", before.processor, after.processor);
  tell("cores", std::to_string(before.cores), std::to_string(after.cores));
  tell("threads", std::to_string(before.threads), std::to_string(after.threads));
  tell("instruction sets", fmt::format("{}", fmt::join(before.isa, ", ")),
       fmt::format("{}", fmt::join(after.isa, ", ")));
  tell("accelerator", before.accelerator, after.accelerator);
  return lines;
}

void module_differences(const Keys& before, const Keys& after, std::vector<std::string>& lines) {
  for (const Module& module : after.modules) {
    const auto old = std::ranges::find(before.modules, module.arm, &Module::arm);
    if (old != before.modules.end() && text_of(*old) != text_of(module))
      lines.push_back(fmt::format("{}: {} -> {}", module.arm, text_of(*old), text_of(module)));
  }
}

std::string change(const Decision& before, const Decision& after) {
  const bool apart =
      before.interval.high < after.interval.low || after.interval.high < before.interval.low;
  const bool decides = before.decision != after.decision || before.equality != after.equality;
  if (!apart && !decides) return "";
  return fmt::format("{}: {} at {}, {:.3f}x -> {} at {}, {:.3f}x", name_of(after),
                     judge::to_string(before.decision), judge::to_string(before.equality),
                     before.ratio, judge::to_string(after.decision),
                     judge::to_string(after.equality), after.ratio);
}

}  // namespace

Plan merged(const std::vector<Plan>& plans) {
  if (plans.empty()) fail(Blame::kInput, "There is no plan to merge.");
  Plan all = plans.front();
  for (const Plan& plan : plans) {
    const std::vector<std::string> apart = key_differences(all.keys, plan.keys);
    if (!apart.empty())
      fail(Blame::kInput, "Plans of different machines cannot be merged: {}.",
           fmt::join(apart, "; "));
    merge_modules(all.keys.modules, plan.keys.modules);
    for (const Decision& decision : plan.decisions) add(all.decisions, decision);
  }
  return all;
}

std::vector<std::string> differences(const Plan& before, const Plan& after) {
  std::vector<std::string> lines = key_differences(before.keys, after.keys);
  module_differences(before.keys, after.keys, lines);
  for (const Decision& decision : after.decisions) {
    const Decision* old = find(before, decision.problem);
    const std::string line = old != nullptr ? change(*old, decision)
                                            : fmt::format("{}: new, {}", name_of(decision),
                                                          judge::to_string(decision.decision));
    if (!line.empty()) lines.push_back(line);
  }
  for (const Decision& decision : before.decisions)
    if (find(after, decision.problem) == nullptr)
      lines.push_back(
          fmt::format("{}: gone, was {}", name_of(decision), judge::to_string(decision.decision)));
  return lines;
}

}  // namespace tare::plan
