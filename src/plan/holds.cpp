#include "plan/holds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "plan/isa_names.h"

namespace tare::plan {
namespace {

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string reason_against(const Module& wanted, const std::vector<Module>& found) {
  const auto here = std::ranges::find(found, wanted.arm, &Module::arm);
  if (here == found.end())
    return fmt::format("{} was weighed, and is not here: tare doctor says why.", wanted.title);
  if (here->title != wanted.title)
    return fmt::format("{} was weighed, and {} is here: weigh again with tare plan.", wanted.title,
                       here->title);
  if (here->digest != wanted.digest)
    return fmt::format(
        "the module of {} was built anew since (its file is {}, and was {}): weigh again with tare "
        "plan.",
        wanted.title, here->digest, wanted.digest);
  return "";
}

}  // namespace

std::vector<std::string> reasons_against_machine(const Keys& keys, const device::Machine& machine) {
  std::vector<std::string> reasons;
  if (keys.processor != machine.processor)
    reasons.push_back(fmt::format("it was made on another processor: {}, and this is {}.",
                                  keys.processor, machine.processor));
  if (keys.cores != machine.cores)
    reasons.push_back(fmt::format("it was made on {} cores, and this process may use {}.",
                                  keys.cores, machine.cores));
  if (keys.threads > machine.threads)
    reasons.push_back(fmt::format("it was made with {} threads, and this process may use {}.",
                                  keys.threads, machine.threads));
  if (const auto isa = isa_names(machine.isa); isa != keys.isa)
    reasons.push_back(fmt::format("it was made with the instruction sets {}, and here are {}.",
                                  joined(keys.isa), joined(isa)));
  return reasons;
}

std::vector<std::string> reasons_against(const Plan& plan, const Here& here) {
  std::vector<std::string> reasons = reasons_against_machine(plan.keys, here.machine);
  if (plan.keys.accelerator != here.accelerator)
    reasons.push_back(
        fmt::format("it was made on {}, and here is {}.",
                    plan.keys.accelerator.empty() ? "the processor" : plan.keys.accelerator,
                    here.accelerator.empty() ? "no GPU" : here.accelerator));
  for (const Module& module : plan.keys.modules)
    if (std::string reason = reason_against(module, here.modules); !reason.empty())
      reasons.push_back(std::move(reason));
  return reasons;
}

}  // namespace tare::plan
