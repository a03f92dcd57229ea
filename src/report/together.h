// Which wins of a table stand when all its rows are looked at together.
#pragma once

#include <vector>

#include "report/results.h"

namespace tare::report {

// The expected share of false ones among the wins that stand is at most this.
inline constexpr double kFalseShare = 0.05;

// Element i: row i is a win that stands (judge::stand_together).
std::vector<bool> wins_that_stand(const std::vector<Row>& rows);

}  // namespace tare::report
