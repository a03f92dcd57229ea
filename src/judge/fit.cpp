#include "judge/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/order.h"

namespace tare::judge {
namespace {

constexpr std::size_t kFewestBlocks = 5;
constexpr double kShownAlpha = 0.05;
// Ratios are corrected by a and its interval before a verdict is read from them, so that interval
// is as careful as the verdict's.
constexpr double kCostAlpha = 0.01;

constexpr Interval kUnknown{-std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::infinity()};

std::vector<double> present(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  return values;
}

// Two regions of n1 < n2 dispatches of the same thing: a = (n2 T1 - n1 T2) / (n2 - n1), block by
// block. Both are of the same block because slow phases last longer than a block.
std::vector<double> costs_per_region(const std::vector<double>& shorter, double n1,
                                     const std::vector<double>& longer, double n2) {
  std::vector<double> costs;
  for (std::size_t i = 0; i < shorter.size(); ++i)
    costs.push_back((n2 * shorter[i] - n1 * longer[i]) / (n2 - n1));
  return present(costs);
}

std::vector<double> mean_rounds(const ArmTimes& times) {
  std::vector<double> means;
  for (const std::vector<double>& rounds : times.round_seconds)
    means.push_back(rounds.empty() ? std::numeric_limits<double>::quiet_NaN() : mean(rounds));
  return means;
}

// A thin slice, hot, costs little but the region itself, so that its regions of one and of several
// dispatches tell a to a microsecond where long cold ones leave tens.
std::vector<double> costs_per_region(const ArmTimes& times) {
  if (times.slice_dispatches >= 2)
    return costs_per_region(times.slice_one_seconds, 1, times.slice_many_seconds,
                            static_cast<double>(times.slice_dispatches));
  if (!times.two_lengths()) return {};
  return costs_per_region(mean_rounds(times), static_cast<double>(times.round_dispatches),
                          times.long_seconds, static_cast<double>(times.long_dispatches));
}

// Slices of w and 2w columns take c + s w and c + 2 s w a dispatch. By block; NaN where it has
// none.
std::vector<double> costs_per_dispatch(const ArmTimes& times, double per_region) {
  std::vector<double> costs;
  const auto n = static_cast<double>(times.slice_dispatches);
  for (std::size_t i = 0; i < times.slice_many_seconds.size(); ++i)
    costs.push_back((2 * times.slice_many_seconds[i] - times.slice_twice_seconds[i] - per_region) /
                    n);
  return costs;
}

void fit_per_region(const ArmTimes& times, Fit& fit) {
  const std::vector<double> costs = costs_per_region(times);
  fit.identifiable = costs.size() >= kFewestBlocks;
  fit.per_region = median(costs).value_or(0);
  fit.per_region_interval = costs.empty() ? kUnknown : median_interval(costs, kCostAlpha);
}

void fit_per_dispatch(const ArmTimes& times, Fit& fit) {
  std::vector<double> all;
  for (const std::vector<double>& rounds : times.round_seconds)
    for (const double seconds : rounds)
      all.push_back((seconds - fit.per_region) / static_cast<double>(times.round_dispatches));
  fit.per_dispatch = median(all).value_or(0);
  fit.per_dispatch_interval = median_interval(all, kShownAlpha);
}

void fit_split(const ArmTimes& times, double bytes, double links, Fit& fit) {
  fit.dispatch_cost_interval = kUnknown;
  if (times.slice_dispatches < 2 || !fit.identifiable) return;
  std::vector<double> costs = present(costs_per_dispatch(times, fit.per_region));
  for (double& cost : costs) cost *= links;
  if (costs.size() < kFewestBlocks) return;
  fit.dispatch_cost = median(costs).value_or(0);
  fit.dispatch_cost_interval = median_interval(costs, kCostAlpha);
  fit.seconds_per_byte = bytes > 0 ? (fit.per_dispatch - fit.dispatch_cost) / bytes : 0;
  fit.split_identifiable = std::isfinite(fit.dispatch_cost_interval.low);
}

}  // namespace

std::vector<double> block_times(const ArmTimes& times, double per_region) {
  std::vector<double> result;
  for (const std::vector<double>& rounds : times.round_seconds) {
    const auto middle = median(rounds);
    result.push_back(middle ? (*middle - per_region) / static_cast<double>(times.round_dispatches)
                            : std::numeric_limits<double>::quiet_NaN());
  }
  return result;
}

double round_region_seconds(const ArmTimes& times) {
  return median(block_times(times, 0)).value_or(0) * static_cast<double>(times.round_dispatches);
}

std::vector<double> naive_times(const ArmTimes& times) {
  if (times.long_dispatches == 0) return block_times(times, 0);
  std::vector<double> result;
  for (const double seconds : times.long_seconds)
    result.push_back(seconds / static_cast<double>(times.long_dispatches));
  return result;
}

void add_dispatch_costs(const FittedArm& one, const FittedArm& other, DispatchCosts& into) {
  const std::vector<double> ours = costs_per_dispatch(one.times, one.fit.per_region);
  const std::vector<double> theirs = costs_per_dispatch(other.times, other.fit.per_region);
  const auto n = static_cast<double>(one.times.slice_dispatches);
  const double regions = one.fit.per_region - other.fit.per_region;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double thin =
        one.times.slice_many_seconds[i] - other.times.slice_many_seconds[i] - regions;
    if (std::isnan(thin) || std::isnan(ours[i] - theirs[i])) continue;
    into.thin.push_back(thin / n);
    into.alone.push_back(ours[i] - theirs[i]);
  }
}

Interval cost_interval(const std::vector<double>& costs) {
  return median_interval(costs, kCostAlpha);
}

Fit fit(const ArmTimes& times, double bytes, double links) {
  Fit result;
  result.per_dispatch_interval = result.per_region_interval = result.dispatch_cost_interval =
      kUnknown;
  if (times.round_dispatches == 0 || times.round_seconds.empty()) return result;
  fit_per_region(times, result);
  fit_per_dispatch(times, result);
  fit_split(times, bytes, links, result);
  const std::vector<double> naive = present(naive_times(times));
  result.naive_per_dispatch = mean(naive);
  const double region =
      median(naive).value_or(0) *
      static_cast<double>(std::max(times.long_dispatches, times.round_dispatches));
  if (region > 0) result.overhead_share = std::max(0.0, result.per_region) / region;
  return result;
}

}  // namespace tare::judge
