// Several plans of one machine.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace tare::plan {

// One plan with the decisions of all. A problem on which two of them have a verdict keeps the more
// careful decision (keep before trade before serve), so that merging never serves what one of them
// does not; a row that was refused gives way to one that was not. Throws tare::Error (kInput) where
// their keys differ, or where there are none.
Plan merged(const std::vector<Plan>& plans);

// What changes from one to the other, a line each: keys, decisions that come, go or change, and
// ratios whose intervals do not overlap. Empty: nothing.
std::vector<std::string> differences(const Plan& before, const Plan& after);

}  // namespace tare::plan
