#include "judge/luck.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace tare::judge {

double placement_luck(std::span<const double> log_ratios, std::span<const double> log_controls,
                      double alpha) {
  const std::size_t freedom = log_controls.size() + log_ratios.size() - 1;
  if (log_ratios.empty() || freedom == 0) return std::numeric_limits<double>::infinity();
  const auto count = static_cast<double>(log_ratios.size());
  const double mean = std::reduce(log_ratios.begin(), log_ratios.end()) / count;
  double squares = 0;
  for (const double value : log_ratios) squares += (value - mean) * (value - mean);
  for (const double value : log_controls) squares += value * value;
  const boost::math::students_t law(static_cast<double>(freedom));
  const double spread = std::sqrt(squares / static_cast<double>(freedom));
  return quantile(complement(law, alpha / 2)) * spread / std::sqrt(count);
}

}  // namespace tare::judge
