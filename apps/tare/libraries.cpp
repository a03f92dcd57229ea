#include "libraries.h"

#include <array>

#include "device/machine.h"
#include "problem/problem.h"
#include "program.h"
#include "prove/compare.h"
#include "weigh/stage.h"

namespace tare::app {

std::vector<report::Library> libraries_of(const arms::Roster& roster) {
  std::vector<report::Library> libraries;
  for (const arms::RosterArm& arm : roster.arms())
    libraries.push_back({arm.description.name, arm.description.title, true, "",
                         arm.part == arms::Part::kCandidate, arm.part == arms::Part::kLimit,
                         prove::digest_of_file(arm.path)});
  for (const arms::Absent& absent : roster.absent())
    libraries.push_back({absent.name, absent.name, false, absent.reason, false, false, ""});
  return libraries;
}

std::vector<report::Library> libraries_here(arms::Where where) {
  // Arm hosts need buffers to share; nothing is weighed here, so the smallest will do.
  const std::array<tare_problem, 1> smallest{problem::bf16_problem({"", 1, 1, 1, ""}, 1)};
  const weigh::Stage stage(smallest);
  arms::RosterOptions roster;
  roster.executable = executable_path();
  roster.module_folder = arms::module_folder_of(roster.executable);
  roster.where = where;
  roster.threads = device::inspect().threads;
  roster.inputs = &stage.inputs_memory();
  roster.outputs = &stage.outputs_memory();
  return libraries_of(arms::Roster(roster));
}

}  // namespace tare::app
