// The implementations found on this machine, as files and doctor list them.
#pragma once

#include <vector>

#include "arms/roster.h"
#include "report/results.h"

namespace tare::app {

std::vector<report::Library> libraries_of(const arms::Roster& roster);

}  // namespace tare::app
