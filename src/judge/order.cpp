#include "judge/order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tare::judge {
namespace {

// The largest r for which P(Binomial(count, 1/2) < r) <= tail: that many values may be left off at
// one end.
std::size_t droppable(std::size_t count, double tail) {
  const double n = static_cast<double>(count);
  double log_term = -n * std::log(2.0);  // of P(exactly 0)
  double below = std::exp(log_term);
  std::size_t dropped = 0;
  while (below <= tail) {
    const double i = static_cast<double>(dropped);
    log_term += std::log((n - i) / (i + 1));
    below += std::exp(log_term);
    ++dropped;
  }
  return dropped;
}

}  // namespace

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const double below = *std::max_element(values.begin(), middle);
  if (below == *middle) return below;
  const double centre = below + (*middle - below) / 2;
  return std::isnan(centre) ? std::nullopt : std::optional(centre);
}

Interval median_interval(std::vector<double> values, double alpha) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::size_t dropped = droppable(values.size(), alpha / 2);
  if (values.empty() || dropped == 0) return {-kInfinity, kInfinity};
  std::sort(values.begin(), values.end());
  return {values[dropped - 1], values[values.size() - dropped]};
}

}  // namespace tare::judge
