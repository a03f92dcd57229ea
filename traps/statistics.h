// The arithmetic of a naive harness, for lies that are told with it.
#pragma once

#include <cmath>
#include <numeric>
#include <span>

namespace tare::traps {

inline double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Of the sample, with n - 1.
inline double variance(std::span<const double> values) {
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum / static_cast<double>(values.size() - 1);
}

inline double welch_t(std::span<const double> a, std::span<const double> b) {
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  return (mean(a) - mean(b)) / std::sqrt(variance(a) / n + variance(b) / m);
}

}  // namespace tare::traps
