// From a judged row to what an engine may do with it.
#pragma once

#include "plan/plan.h"

namespace tare::plan {

// Serve only a win that stands among all the rows of its run (report/together.h) and whose outputs
// are as equal as was asked for; a win with other outputs is a trade; keep otherwise. `row` is
// judged by rules of that equality. Fills everything but certificate, date and samples.
Decision decide(const report::Row& row, judge::Equality asked, bool stands,
                DispatchWins dispatch_wins = DispatchWins::kKeep);

}  // namespace tare::plan
