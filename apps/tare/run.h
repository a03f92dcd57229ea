// One run of a verb that weighs: what was found, what is weighed, where the results go.
#pragma once

#include "headroom.h"

namespace tare::app {

// What a run prints: a line a row as they finish, or where a token's time goes when all are there.
enum class View { kTable, kBudget };

// Throws tare::Error where there is nothing to weigh.
Weighed run(const HeadroomOptions& options, View view);

}  // namespace tare::app
