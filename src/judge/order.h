// What one number says of a sample: its mean, its median, and the interval that holds the median of
// what it was drawn from.
#pragma once

#include <optional>
#include <vector>

#include "judge/judge.h"

namespace tare::judge {

// 0 for no values.
double mean(const std::vector<double>& values);

// The middle of `values`, the mean of the two middle ones for an even count; nothing for none.
// Infinite values are allowed: where the two middle ones are opposite infinities there is no
// middle, and the result is nothing.
std::optional<double> median(std::vector<double> values);

// Distribution-free interval of the median at level 1 - alpha, for a sample looked at once: the
// order statistics between which it lies by the binomial law. [-infinity, infinity] when the sample
// is too small (fewer than six at 5 %). It describes a fit; verdicts stand on judge/mix.h,
// which may be looked at after every block.
Interval median_interval(std::vector<double> values, double alpha);

}  // namespace tare::judge
