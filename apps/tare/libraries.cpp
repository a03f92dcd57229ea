#include "libraries.h"

#include <fmt/ranges.h>

#include <array>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/diagnosis.h"
#include "device/machine.h"
#include "problem/problem.h"
#include "program.h"
#include "prove/compare.h"
#include "report/text.h"
#include "weigh/weighing.h"

namespace tare::app {

arms::RosterOptions roster_options(const weigh::Stage& stage, std::uint32_t threads) {
  arms::RosterOptions roster;
  roster.executable = executable_path();
  roster.module_folder = arms::module_folder_of(roster.executable);
  roster.threads = threads;
  roster.inputs = &stage.inputs_memory();
  roster.outputs = &stage.outputs_memory();
  return roster;
}

std::optional<device::Accelerator> accelerator_at(arms::Where where) {
  if (where != arms::Where::kCuda) return std::nullopt;
  device::Accelerator accelerator = device::inspect_cuda();
  accelerator.launching = "graph, plain launch";  // weigh::Stage's, as it is made
  return accelerator;
}

std::chrono::milliseconds patience_of(double seconds) {
  constexpr double kDay = 86400;
  if (!(seconds > 0 && seconds <= kDay))
    fail(Blame::kInput, "--patience {}: seconds, more than 0 and at most a day.", seconds);
  return std::chrono::milliseconds(static_cast<long>(1000 * seconds));
}

std::uint32_t threads_of(std::uint32_t asked, std::uint32_t usable) {
  if (asked > usable)
    fail(Blame::kInput, "--threads {}: this process may use {} processors.", asked, usable);
  return asked > 0 ? asked : usable;
}

void check_plugins(const arms::Roster& roster) {
  for (const arms::Absent& absent : roster.absent())
    if (absent.plugin) fail(Blame::kInput, "--arm {}", absent.reason);
}

void check_memory(const tare_problem& problem, double copies, const char* what) {
  const double needed = copies * weigh::weight_bytes(problem);
  const double available =
      device::kMostOfMemory * static_cast<double>(device::inspect().available_bytes);
  if (needed > available)
    fail(
        Blame::kMachine,
        "Not enough memory to {} {}×{}: {:.0f} copies of the weights need {:.1f} GB, and {:.1f} GB "
        "is to be had. Close other programs, or ask about a smaller shape.",
        what, problem.k, problem.n, copies, needed / 1e9, available / 1e9);
}

void check_name(const arms::Roster& roster, const char* option, const std::string& name) {
  if (name.empty()) return;
  std::vector<std::string> names;
  for (const arms::RosterArm& arm : roster.arms()) {
    if (arm.part == arms::Part::kLimit) continue;
    if (arm.description.name == name) return;
    names.push_back(report::printable(arm.description.name));
  }
  // Of a module that is absent nobody knows how its arms are called, but that they begin so.
  for (const arms::Absent& absent : roster.absent())
    if (name.starts_with(absent.name)) return;
  fail(Blame::kInput,
       "{} {}: no implementation here is called so. There are: {}. tare doctor says why others are "
       "not.",
       option, report::printable(name), fmt::join(names, ", "));
}

std::vector<report::Library> libraries_of(const arms::Roster& roster) {
  std::vector<report::Library> libraries;
  for (const arms::RosterArm& arm : roster.arms())
    libraries.push_back({arm.description.name, arm.description.title, true, "",
                         arm.part == arms::Part::kCandidate, arm.part == arms::Part::kLimit,
                         prove::digest_of_file(arm.path)});
  for (const arms::Absent& absent : roster.absent())
    libraries.push_back(
        {absent.name, absent.name, false, absent.reason, false, false, "", absent.on_request});
  return libraries;
}

std::vector<report::Library> libraries_here(arms::Where where) {
  // Arm hosts need buffers to share; nothing is weighed here, so the smallest will do.
  const std::array<tare_problem, 1> smallest{problem::bf16_problem({"", 1, 1, 1, ""}, 1)};
  const weigh::Stage stage(smallest);
  arms::RosterOptions roster = roster_options(stage, device::inspect().threads);
  roster.where = where;
  return libraries_of(arms::Roster(roster));
}

}  // namespace tare::app
