// The implementations found on this machine, as files and doctor list them.
#pragma once

#include <vector>

#include "arms/roster.h"
#include "report/results.h"

namespace tare::app {

std::vector<report::Library> libraries_of(const arms::Roster& roster);

// The same of a roster that is there for that alone: every module is loaded once.
std::vector<report::Library> libraries_here(arms::Where where);

}  // namespace tare::app
