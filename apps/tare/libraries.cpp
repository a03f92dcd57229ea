#include "libraries.h"

#include "report/digest.h"

namespace tare::app {

std::vector<report::Library> libraries_of(const arms::Roster& roster) {
  std::vector<report::Library> libraries;
  for (const arms::RosterArm& arm : roster.arms())
    libraries.push_back({arm.description.name, arm.description.title, true, "",
                         arm.part == arms::Part::kCandidate, arm.part == arms::Part::kLimit,
                         report::file_digest(arm.path)});
  for (const arms::Absent& absent : roster.absent())
    libraries.push_back({absent.name, absent.name, false, absent.reason, false, false, ""});
  return libraries;
}

}  // namespace tare::app
