#include "libraries.h"

#include <array>

#include "base/error.h"
#include "device/machine.h"
#include "problem/problem.h"
#include "program.h"
#include "prove/compare.h"

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
  return std::chrono::milliseconds(static_cast<long>(1000 * seconds));
}

void check_plugins(const arms::Roster& roster) {
  for (const arms::Absent& absent : roster.absent())
    if (absent.plugin) fail(Blame::kInput, "--arm {}", absent.reason);
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
