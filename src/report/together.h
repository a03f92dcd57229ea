// Which wins of a table stand when all its rows are looked at together.
#pragma once

#include <cstddef>
#include <vector>

#include "report/results.h"

namespace tare::report {

// The expected share of false ones among the wins that stand is at most this.
inline constexpr double kFalseShare = 0.05;

// Element i: row i is a win that stands (judge::stand_together) among the rows that the run was
// asked for; those that are not there count as rows that say nothing. With rows to come a win may
// come to stand; one that stands never falls: its line can be printed before the table is whole.
std::vector<bool> wins_that_stand(const Results& results);
// The same for the row `index` when those behind it were not known yet.
bool stands_when_printed(const Results& results, std::size_t index);

}  // namespace tare::report
