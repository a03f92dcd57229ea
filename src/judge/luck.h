// Placement as a source of variance: the same code on other memory, in another process, takes
// another time, and no number of rounds on one placement tells that from a faster kernel.
#pragma once

#include <span>

namespace tare::judge {

// Half the width of the interval, at level 1 - alpha, of the mean of `log_ratios`, one of each
// placement: Student's, with the spread of placements estimated from how they differ from each
// other and from how each one's control differs from its incumbent (`log_controls`; those are two
// placements of one code, so their true value is 0). It takes the luck of placement to be normal.
// Infinity where there is nothing to estimate a spread from.
double placement_luck(std::span<const double> log_ratios, std::span<const double> log_controls,
                      double alpha);

}  // namespace tare::judge
