#include "judge/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/order.h"

namespace tare::judge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTolerance = 2e-6;  // seconds
constexpr double kToleranceShare = 0.05;

using Group = std::vector<const Trial*>;

// The value that 9 of 10 do not exceed; infinity for none.
double nine_of_ten(std::vector<double> values) {
  if (values.empty()) return kInfinity;
  const std::size_t rank = (9 * values.size() + 9) / 10 - 1;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(rank));
  return values[rank];
}

template <typename Value>
std::vector<double> values_of(const Group& trials, Value&& value) {
  std::vector<double> values;
  for (const Trial* trial : trials) values.push_back(value(*trial));
  return values;
}

double when(const Moment& moment, double Moment::*clock) {
  if (!moment.reached) return kInfinity;
  return moment.*clock;
}

double nine_of_ten(const Group& trials, Moment Trial::*moment, double Moment::*clock) {
  return nine_of_ten(values_of(trials, [&](const Trial& t) { return when(t.*moment, clock); }));
}

Recovery recovery_of(const Group& trials, bool Trial::*known, double Trial::*found,
                     double Trial::*planted) {
  Recovery recovery;
  std::vector<double> errors, sizes;
  for (const Trial* trial : trials) {
    if (!(trial->*known)) continue;
    ++recovery.known;
    recovery.recovered += is_recovered(trial->*found, trial->*planted);
    errors.push_back(trial->*found - trial->*planted);
    sizes.push_back(std::fabs(errors.back()));
  }
  if (errors.empty()) return recovery;
  recovery.median_error = median(errors).value_or(0);
  recovery.worst_error = nine_of_ten(sizes);
  return recovery;
}

void count_verdicts(const Group& trials, double equivalence, CalibrationRow& row) {
  for (const Trial* trial : trials) {
    ++row.verdicts[trial->verdict];
    if (trial->verdict == Verdict::kRefused) ++row.causes[trial->cause];
    row.false_verdicts += is_false(*trial, equivalence);
    row.dispatch_wins += trial->dispatch_win;
    row.seen += trial->seen.reached;
    row.seen_wrong += trial->seen.reached && trial->seen_direction != trial->direction;
  }
}

void measure_bias(const Group& trials, CalibrationRow& row) {
  std::vector<double> ratios;
  for (const Trial* trial : trials) {
    if (trial->true_ratio > 0 && trial->ratio > 0) {
      ++row.intervals;
      row.covered +=
          trial->interval.low <= trial->true_ratio && trial->true_ratio <= trial->interval.high;
      ratios.push_back(trial->ratio / trial->true_ratio - 1);
    }
    if (trial->true_byte_ratio > 0 && trial->byte_ratio > 0)
      row.byte_errors.push_back(trial->byte_ratio / trial->true_byte_ratio - 1);
  }
  row.bias = median(ratios).value_or(0);
}

// What was not excluded of equal arms: a true ratio further from 1 than that would have moved the
// whole interval off it.
double smallest_seen(const Trial& trial) {
  const Interval& interval = trial.verdict_interval;
  if (!(interval.low > 0)) return kInfinity;
  return std::max(interval.high, 1 / interval.low) - 1;
}

void measure_smallest(const Group& trials, CalibrationRow& row) {
  std::vector<double> smallest;
  for (const Trial* trial : trials)
    if (trial->watched) smallest.push_back(smallest_seen(*trial));
  row.watched = static_cast<std::uint32_t>(smallest.size());
  row.smallest90 = nine_of_ten(std::move(smallest));
}

CalibrationRow row_of(const Group& all, double equivalence) {
  CalibrationRow row;
  row.setting = all.front()->setting;
  row.experiment = all.front()->experiment;
  row.runs = static_cast<std::uint32_t>(all.size());
  row.equal_arms = all.front()->equal_arms;
  Group trials;
  for (const Trial* trial : all) {
    if (trial->identifiable)
      trials.push_back(trial);
    else
      row.unidentifiable_refused += trial->verdict == Verdict::kRefused;
  }
  row.unidentifiable = static_cast<std::uint32_t>(all.size() - trials.size());
  count_verdicts(trials, equivalence, row);
  measure_bias(trials, row);
  row.region = recovery_of(trials, &Trial::region_known, &Trial::region_seconds,
                           &Trial::planted_region_seconds);
  row.dispatch = recovery_of(trials, &Trial::dispatch_known, &Trial::dispatch_seconds,
                             &Trial::planted_dispatch_seconds);
  row.seen_region90 = nine_of_ten(trials, &Trial::seen, &Moment::region_seconds);
  row.seen_wall90 = nine_of_ten(trials, &Trial::seen, &Moment::wall_seconds);
  row.decided_region90 = nine_of_ten(trials, &Trial::decided, &Moment::region_seconds);
  row.decided_wall90 = nine_of_ten(trials, &Trial::decided, &Moment::wall_seconds);
  measure_smallest(trials, row);
  return row;
}

}  // namespace

bool is_false(const Trial& trial, double equivalence) {
  switch (trial.verdict) {
    case Verdict::kWin:
    case Verdict::kLoss:
      return trial.verdict != trial.direction;
    case Verdict::kEquivalent:
      return trial.true_ratio > 0 && std::fabs(trial.true_ratio - 1) > equivalence;
    case Verdict::kInconclusive:
    case Verdict::kRefused:
      return false;
  }
  return false;
}

Bias bias_of_bytes(std::span<const CalibrationRow> rows) {
  constexpr double kAlpha = 0.05;
  std::vector<double> errors;
  for (const CalibrationRow& row : rows)
    errors.insert(errors.end(), row.byte_errors.begin(), row.byte_errors.end());
  return {static_cast<std::uint32_t>(errors.size()), median(errors).value_or(0),
          median_interval(errors, kAlpha)};
}

bool is_recovered(double found, double planted) {
  return std::fabs(found - planted) <= std::max(kTolerance, kToleranceShare * std::fabs(planted));
}

std::vector<CalibrationRow> summarise(std::span<const Trial> trials, double equivalence) {
  std::vector<Group> groups;
  for (const Trial& trial : trials) {
    const auto same = [&](const Group& group) {
      return group.front()->setting == trial.setting &&
             group.front()->experiment == trial.experiment;
    };
    const auto found = std::ranges::find_if(groups, same);
    if (found == groups.end())
      groups.push_back({&trial});
    else
      found->push_back(&trial);
  }
  std::vector<CalibrationRow> rows;
  rows.reserve(groups.size());
  for (const Group& group : groups) rows.push_back(row_of(group, equivalence));
  return rows;
}

}  // namespace tare::judge
