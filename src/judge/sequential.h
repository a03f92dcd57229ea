// The interval that stays valid while it is watched: bets on the signs of paired differences.
//
// Under the hypothesis that the median of x is m, x_b - m is as likely above 0 as below, whatever
// the blocks before were. A gambler who stakes a share l of the capital on the sign of each block
// then plays a fair game; so does the average of several gamblers. By Ville's inequality a fair
// game's capital ever reaches 1 / alpha with probability alpha at most: the hypotheses that made a
// gambler that rich are excluded, at every block, for good. docs/how-sure.md has the proof and the
// choice of stakes.
#pragma once

#include <cstddef>
#include <span>

#include "judge/judge.h"

namespace tare::judge {

// Natural logarithm of the mixed gamblers' capital after `blocks` blocks of which `above` were
// positive.
double log_capital(std::size_t above, std::size_t blocks);

// The medians of `values` (in the order in which they were taken) that were not excluded after any
// prefix.
struct MedianSet {
  Interval interval;  // [-infinity, infinity] before anything can be excluded
  bool crossed =
      false;  // no constant median survived: it moved. `interval` then spans what lies between
};
// Values may be infinite (a sign that holds for every finite m), not NaN.
MedianSet median_set(std::span<const double> values, double alpha);

}  // namespace tare::judge
