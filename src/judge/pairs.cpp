#include "judge/pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/fit.h"
#include "judge/order.h"
#include "judge/sequential.h"

namespace tare::judge {
namespace {

// Step of the clock that times regions. Measured on the machines so far: 10 ns; a finer one makes
// the dither harmless.
constexpr double kTimerStep = 10e-9;

// Counter-based uniform in (-0.5, 0.5): splitmix64's finaliser over the seed and the block's
// number, the same bits on every machine.
double dither(std::uint64_t seed, std::uint32_t block) {
  std::uint64_t z = seed + (std::uint64_t{block} + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return (static_cast<double>(z >> 11) + 0.5) * 0x1p-53 - 0.5;
}

// log(above / below), +-infinity where only one is positive, NaN where neither is.
double log_ratio(double above, double below) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (above > 0 && below > 0) return std::log(above / below);
  if (above > 0 && below <= 0) return kInfinity;
  if (above <= 0 && below > 0) return -kInfinity;
  return std::numeric_limits<double>::quiet_NaN();
}

Interval exponential(const Interval& logs) {
  return {std::exp(logs.low), std::exp(logs.high)};
}

Interval widen(const Interval& interval, double factor) {
  return {interval.low / factor, interval.high * factor};
}

}  // namespace

std::vector<double> log_ratios(const Blocks& blocks, weigh::Role above, weigh::Role below,
                               std::uint64_t seed) {
  const auto a = blocks.arms.find(above);
  const auto b = blocks.arms.find(below);
  if (a == blocks.arms.end() || b == blocks.arms.end()) return {};
  const bool free_of_overhead = a->second.two_lengths() && b->second.two_lengths();
  const auto times = free_of_overhead ? slopes : naive_times;
  const std::vector<double> times_a = times(a->second);
  const std::vector<double> times_b = times(b->second);
  std::vector<double> values;
  for (std::size_t i = 0; i < blocks.count(); ++i) {
    const double value = log_ratio(times_a[i], times_b[i]);
    if (std::isnan(value)) continue;
    const double step = kTimerStep / a->second.long_seconds[i];
    values.push_back(value + step * dither(seed, blocks.numbers[i]));
  }
  return values;
}

Comparison compare(const std::vector<double>& log_ratios, const Rules& rules) {
  Comparison result;
  const MedianSet shown = median_set(log_ratios, rules.alpha);
  const MedianSet certain = median_set(log_ratios, rules.verdict_alpha);
  result.interval = exponential(shown.interval);
  result.verdict_interval = exponential(certain.interval);
  result.moved = certain.crossed;
  const double middle = median(log_ratios).value_or(-std::numeric_limits<double>::infinity());
  if (std::isfinite(middle))
    result.ratio = std::clamp(std::exp(middle), result.interval.low, result.interval.high);
  return result;
}

Comparison widened_by(const Comparison& control, Comparison comparison) {
  const bool differs = control.interval.low > 1 || control.interval.high < 1;
  if (!differs || control.ratio <= 0) return comparison;
  const double factor = std::max(control.ratio, 1 / control.ratio);
  comparison.interval = widen(comparison.interval, factor);
  comparison.verdict_interval = widen(comparison.verdict_interval, factor);
  return comparison;
}

bool within(const Interval& interval, double share) {
  return interval.low >= 1 - share && interval.high <= 1 + share;
}

}  // namespace tare::judge
