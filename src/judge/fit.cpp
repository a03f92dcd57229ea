#include "judge/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "judge/order.h"

namespace tare::judge {
namespace {

constexpr std::size_t kFewestBlocks = 5;
constexpr double kDescriptiveAlpha = 0.05;

std::vector<double> present(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  return values;
}

// Cost per region, block by block: a = (n_long T_short - n_short T_long) / (n_long - n_short). Both
// regions are of the same block because slow phases last longer than a block: the median over pairs
// is off by less than the median of short regions minus n times a median slope, whose two medians
// need not be of the same phase.
std::vector<double> costs_per_region(const ArmTimes& times) {
  const auto n_long = static_cast<double>(times.long_dispatches);
  const auto n_short = static_cast<double>(times.short_dispatches);
  std::vector<double> costs;
  for (std::size_t i = 0; i < times.long_seconds.size(); ++i)
    costs.push_back((n_long * times.short_seconds[i] - n_short * times.long_seconds[i]) /
                    (n_long - n_short));
  return present(costs);
}

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Interval unknown_interval() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {-kInfinity, kInfinity};
}

}  // namespace

std::vector<double> slopes(const ArmTimes& times) {
  if (!times.two_lengths()) return naive_times(times);
  const auto more = static_cast<double>(times.long_dispatches - times.short_dispatches);
  std::vector<double> result;
  for (std::size_t i = 0; i < times.long_seconds.size(); ++i)
    result.push_back((times.long_seconds[i] - times.short_seconds[i]) / more);
  return result;
}

std::vector<double> naive_times(const ArmTimes& times) {
  std::vector<double> result;
  for (const double seconds : times.long_seconds)
    result.push_back(seconds / static_cast<double>(times.long_dispatches));
  return result;
}

Fit fit(const ArmTimes& times) {
  Fit result;
  result.per_dispatch_interval = result.per_region_interval = unknown_interval();
  const std::vector<double> per_dispatch = present(slopes(times));
  if (per_dispatch.empty()) return result;
  result.per_dispatch = median(per_dispatch).value_or(0);
  result.per_dispatch_interval = median_interval(per_dispatch, kDescriptiveAlpha);
  result.naive_per_dispatch = mean(present(naive_times(times)));
  result.identifiable = times.two_lengths() && per_dispatch.size() >= kFewestBlocks;
  if (!times.two_lengths()) return result;
  const std::vector<double> costs = costs_per_region(times);
  result.per_region = median(costs).value_or(0);
  result.per_region_interval = median_interval(costs, kDescriptiveAlpha);
  const double region = median(present(times.long_seconds)).value_or(0);
  if (region > 0) result.overhead_share = std::max(0.0, result.per_region) / region;
  return result;
}

}  // namespace tare::judge
