// Which arms may be weighed against a row's incumbent.
#pragma once

#include <vector>

#include "arms/roster.h"
#include "headroom.h"

namespace tare::app {

// Those that can do the row, in the order of preference: the one that was named; or the user's own;
// or Tare's. Throws tare::Error (kArm), with a reason, where there is none.
std::vector<const arms::RosterArm*> willing_candidates(const arms::Roster& roster,
                                                       const HeadroomOptions& options,
                                                       const tare_problem& problem);

}  // namespace tare::app
