#include "candidates.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tare::app {

std::vector<const arms::RosterArm*> willing_candidates(const arms::Roster& roster,
                                                       const HeadroomOptions& options,
                                                       const tare_problem& problem) {
  const std::string& wanted = options.candidate;
  std::string refusal = "No candidate was found. tare doctor says why.";
  std::vector<const arms::RosterArm*> willing;
  for (const arms::RosterArm& arm : roster.arms()) {
    // A candidate named by the user may be any arm but a limit: one library against another.
    if (wanted.empty() ? arm.part != arms::Part::kCandidate : arm.description.name != wanted)
      continue;
    if (arm.part == arms::Part::kLimit) continue;
    const bool plugins_turn = wanted.empty() && !options.plugins.empty();
    if (plugins_turn && !arm.plugin) continue;
    if (const auto reason = arm.host->refusal(arm.index, problem))
      refusal = fmt::format("{}: {}", arm.description.name, *reason);
    else
      willing.push_back(&arm);
  }
  if (willing.empty()) fail(Blame::kArm, "{}", refusal);
  return willing;
}

}  // namespace tare::app
