// make_plan: a run becomes a plan.
#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/error.h"
#include "plan/decide.h"
#include "plan/isa_names.h"
#include "plan/plan.h"
#include "report/encode.h"
#include "report/together.h"

namespace tare::plan {
namespace {

// Of a plan's file the modules alone that a decision rests on: another library that comes or goes
// changes nothing.
std::vector<Module> modules_of(const report::Header& header,
                               const std::vector<Decision>& decisions) {
  std::set<std::string> used;
  for (const Decision& decision : decisions)
    for (const Side* side : {&decision.incumbent, &decision.candidate}) used.insert(side->arm);
  std::vector<Module> modules;
  for (const report::Library& library : header.libraries) {
    if (!library.found || !used.contains(library.arm)) continue;
    if (library.module.empty())
      fail(Blame::kInput,
           "The run notes no digest of the module of {}: it was recorded by an older Tare, and a "
           "plan must say what it is valid for. Weigh again: tare plan MODEL.",
           library.title);
    modules.push_back({library.arm, library.title, library.module});
  }
  return modules;
}

void check(const report::Results& results) {
  if (!results.complaints.empty())
    fail(Blame::kInput, "No plan is made of a damaged run: {}", results.complaints.front());
  if (results.rows.empty()) fail(Blame::kInput, "The run has no rows: there is nothing to decide.");
}

// One decision a problem: projections of one shape share a row.
void add(std::vector<Decision>& decisions, Decision&& decision) {
  const auto same = [&](const Decision& other) {
    return same_problem(other.problem, decision.problem) && other.model == decision.model;
  };
  const auto found = std::ranges::find_if(decisions, same);
  if (found == decisions.end())
    decisions.push_back(std::move(decision));
  else
    found->projection += "/" + decision.projection;
}

}  // namespace

bool same_problem(const tare_problem& a, const tare_problem& b) {
  const auto key = [](const tare_problem& p) {
    return std::tuple(p.k, p.n, p.rows, p.weights, p.activations, p.output, p.accumulator, p.bias);
  };
  return key(a) == key(b);
}

const Decision* find(const Plan& plan, const tare_problem& problem) {
  const auto found = std::ranges::find_if(
      plan.decisions, [&](const Decision& one) { return same_problem(one.problem, problem); });
  return found == plan.decisions.end() ? nullptr : &*found;
}

Plan make_plan(const report::Results& results, DispatchWins dispatch_wins) {
  check(results);
  const report::Header& header = results.header;
  Plan plan;
  plan.tare_version = header.tare_version;
  plan.date = header.date;
  plan.command = header.command;
  const std::vector<bool> stands = report::wins_that_stand(results);
  for (std::size_t i = 0; i < results.rows.size(); ++i) {
    const report::Row& row = results.rows[i];
    Decision decision = decide(row, header.rules.equality, stands[i], dispatch_wins);
    decision.date = header.date;
    decision.samples = report::row_line(row).digest;
    add(plan.decisions, std::move(decision));
  }
  plan.keys.processor = header.machine.processor;
  plan.keys.cores = header.machine.cores;
  plan.keys.threads = header.machine.threads;
  plan.keys.isa = isa_names(header.machine.isa);
  if (header.accelerator)
    plan.keys.accelerator =
        fmt::format("{}, driver {}", header.accelerator->name, header.accelerator->driver);
  plan.keys.modules = modules_of(header, plan.decisions);
  return plan;
}

}  // namespace tare::plan
