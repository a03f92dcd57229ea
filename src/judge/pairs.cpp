#include "judge/pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/splitmix.h"
#include "judge/fit.h"
#include "judge/order.h"

namespace tare::judge {
namespace {

using weigh::Role;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Step of the clock that times regions. Measured on the machines so far: 10 ns; a finer one makes
// the dither harmless.
constexpr double kTimerStep = 10e-9;

// Evenly from (-0.5, 0.5).
double dither(std::uint64_t seed, std::uint64_t counter) {
  return split_mix_unit(seed + counter * kSplitMixStep) + 0x1p-54 - 0.5;
}

// log(above / below), +-infinity where only one is positive, NaN where neither is.
double log_ratio(double above, double below) {
  if (above > 0 && below > 0) return std::log(above / below);
  if (above > 0 && below <= 0) return kInfinity;
  if (above <= 0 && below > 0) return -kInfinity;
  return std::numeric_limits<double>::quiet_NaN();
}

double per_region(const std::map<Role, Fit>& fits, Role role) {
  const auto fit = fits.find(role);
  return fit == fits.end() || !fit->second.identifiable ? 0 : fit->second.per_region;
}

// The control is the incumbent's code in the incumbent's process: its slices were not weighed anew.
Role priced_as(Role role) {
  return role == Role::kControl ? Role::kIncumbent : role;
}

// Share of a round's region that is not its dispatches, as far as it is known.
struct Share {
  double estimate = 0;
  Interval interval{0, 0};
};

Share share_of(const Blocks& blocks, const std::map<Role, Fit>& fits, Role role) {
  const auto arm = blocks.arms.find(role);
  const auto fit = fits.find(priced_as(role));
  if (arm == blocks.arms.end() || fit == fits.end() || !fit->second.identifiable) return {};
  const double region = round_region_seconds(arm->second);
  const Interval& cost = fit->second.per_region_interval;
  if (!(region > 0) || !std::isfinite(cost.low)) return {};
  const auto share = [&](double seconds) { return std::clamp(seconds / region, -0.5, 0.9); };
  return {share(fit->second.per_region), {share(cost.low), share(cost.high)}};
}

std::uint64_t dither_counter(std::uint32_t block, std::size_t round, std::size_t arm) {
  return (std::uint64_t{block} << 16) + (round << 4) + arm;
}

}  // namespace

std::vector<double> log_ratios(const Blocks& blocks, const std::map<Role, Fit>& fits, Role above,
                               Role below, std::uint64_t seed) {
  const auto a = blocks.arms.find(above);
  const auto b = blocks.arms.find(below);
  if (a == blocks.arms.end() || b == blocks.arms.end()) return {};
  const auto times_a = block_times(a->second, per_region(fits, priced_as(above)));
  const auto times_b = block_times(b->second, per_region(fits, priced_as(below)));
  std::vector<double> values;
  for (std::size_t i = 0; i < blocks.count(); ++i) {
    const double value = log_ratio(times_a[i], times_b[i]);
    if (std::isnan(value)) continue;
    const double region = times_a[i] * static_cast<double>(a->second.round_dispatches);
    const double step = region > 0 ? kTimerStep / region : 0;
    values.push_back(value + step * dither(seed, dither_counter(blocks.numbers[i], 0, 0)));
  }
  return values;
}

Mix rounds_of(const Blocks& blocks, Role arm, std::uint64_t seed) {
  return rounds_of(blocks, arm, seed, 0, blocks.count());
}

Mix rounds_of(const Blocks& blocks, Role arm, std::uint64_t seed, std::size_t first,
              std::size_t last) {
  Mix mix;
  const auto incumbent = blocks.arms.find(Role::kIncumbent);
  const auto own = blocks.arms.find(arm);
  if (incumbent == blocks.arms.end() || own == blocks.arms.end()) return mix;
  const bool third = arm != Role::kControl && blocks.arms.contains(Role::kControl);
  const auto time = [&](Role role, std::size_t block, std::size_t round) {
    const ArmTimes& times = blocks.arms.at(role);
    const auto counter =
        dither_counter(blocks.numbers[block], round, static_cast<std::size_t>(role));
    const double seconds = times.round_seconds[block][round] + kTimerStep * dither(seed, counter);
    return std::max(seconds, kTimerStep) / static_cast<double>(times.round_dispatches);
  };
  for (std::size_t block = first; block < last; ++block)
    for (std::size_t round = 0; round < own->second.round_seconds[block].size(); ++round)
      mix.add(
          {time(Role::kIncumbent, block, round),
           third ? time(Role::kControl, block, round) : std::numeric_limits<double>::quiet_NaN(),
           time(arm, block, round)});
  return mix;
}

Correction correction(const Blocks& blocks, const std::map<Role, Fit>& fits, Role above,
                      Role below) {
  // One process, one code: whatever its share is, it is the same on both sides.
  if (priced_as(above) == priced_as(below)) return {};
  const Share a = share_of(blocks, fits, above), b = share_of(blocks, fits, below);
  return {(1 - a.estimate) / (1 - b.estimate), (1 - a.interval.high) / (1 - b.interval.low),
          (1 - a.interval.low) / (1 - b.interval.high)};
}

Correction doubted(Correction correction, double doubt) {
  return {correction.factor, correction.low / doubt, correction.high * doubt};
}

double evidence_above(const Mix& rounds, const Correction& correction, double ratio) {
  return rounds.log_evidence(std::log(ratio / correction.low)).ratio_is_higher.most;
}

double evidence_below(const Mix& rounds, const Correction& correction, double ratio) {
  return rounds.log_evidence(std::log(ratio / correction.high)).ratio_is_lower.most;
}

Verdict verdict_on(const Mix& rounds, const Correction& correction, const Rules& rules) {
  const double threshold = -std::log(rules.verdict_alpha);
  const auto above = [&](double ratio) {
    return evidence_above(rounds, correction, ratio) >= threshold;
  };
  const auto below = [&](double ratio) {
    return evidence_below(rounds, correction, ratio) >= threshold;
  };
  if (above(1 - rules.equivalence) && below(1 + rules.equivalence)) return Verdict::kEquivalent;
  const bool faster = above(1), slower = below(1);
  if (faster == slower) return Verdict::kInconclusive;  // both: it moved
  return faster ? Verdict::kWin : Verdict::kLoss;
}

Comparison compare(const Mix& rounds, const Correction& correction, const Rules& rules) {
  Comparison result;
  result.interval = result.verdict_interval = {0, kInfinity};
  if (rounds.rounds() == 0) return result;
  const auto corrected = [&](const Interval& logs) {
    return Interval{std::exp(logs.low) * correction.low, std::exp(logs.high) * correction.high};
  };
  const Mix::LogSet certain = rounds.surviving(rules.verdict_alpha);
  result.verdict_interval = corrected(certain.interval);
  result.interval = corrected(rounds.surviving(rules.alpha).interval);
  result.moved = certain.moved;
  result.verdict = verdict_on(rounds, correction, rules);
  // Edges are found to a thousandth of their distance; the verdict is exact.
  if (result.verdict == Verdict::kWin)
    result.verdict_interval.low = std::max(1.0, result.verdict_interval.low);
  if (result.verdict == Verdict::kLoss)
    result.verdict_interval.high = std::min(1.0, result.verdict_interval.high);
  result.ratio = std::clamp(std::exp(rounds.log_estimate()) * correction.factor,
                            result.interval.low, result.interval.high);
  // Half of an e-value times 2.
  result.log_evidence =
      std::log(2.0) + rounds.log_evidence(-std::log(correction.low)).ratio_is_higher.now;
  return result;
}

double doubt(const Mix& control, const Rules& rules) {
  const Mix::LogEvidence evidence = control.log_evidence(0);
  if (std::max(evidence.ratio_is_lower.most, evidence.ratio_is_higher.most) <
      -std::log(rules.alpha))
    return 1;
  return std::exp(std::fabs(control.log_estimate()));
}

}  // namespace tare::judge
