// TRAPS T1, T19: a region that is not mostly its kernel weighs the harness.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "judge/fit.h"
#include "judge/gates/gates.h"
#include "judge/words.h"

namespace tare::judge::gates {
namespace {

using weigh::Role;

constexpr const char* kName = "overhead";
// How many times the allowed share the interval of the cost may reach before "somewhere in there"
// is no answer.
constexpr double kWidest = 5;

Finding curable(double seen, double allowed, std::string sentence) {
  Finding finding = failed(kName, seen, allowed, std::move(sentence));
  finding.curable_by_traffic = true;
  return finding;
}

Finding one_length(const Evidence& evidence, Role role, const ArmTimes& times) {
  const auto dispatches = std::max(times.long_dispatches, times.round_dispatches);
  const double needed =
      2 * weigh::weight_bytes(evidence.weighing) * static_cast<double>(dispatches);
  return curable(1, evidence.rules.overhead_share,
                 fmt::format("regions of {} are {} dispatches long and no second length is at most "
                             "half of that, so what a region costs beside its kernel is not "
                             "identifiable; raise --traffic to {:.0e} or more",
                             name_of(evidence, role), dispatches, needed));
}

Finding check(const Evidence& evidence, Role role) {
  const double allowed = evidence.rules.overhead_share;
  const auto times = evidence.blocks.arms.find(role);
  if (times == evidence.blocks.arms.end() || evidence.blocks.count() == 0)
    return passed(kName, 0, allowed, "no complete block to tell it from");
  if (!times->second.two_lengths() && times->second.slice_dispatches < 2)
    return one_length(evidence, role, times->second);
  const Fit& fit = evidence.fits.at(role);
  const Interval& cost = fit.per_region_interval;
  if (!fit.identifiable || !std::isfinite(cost.low))
    return passed(kName, fit.overhead_share, allowed, "too few blocks to tell it from");
  const double region =
      median_over_regions(evidence, role, [](const auto& r) { return r.seconds; }).value_or(0);
  if (fit.overhead_share > allowed && cost.low > 0)
    return curable(
        fit.overhead_share, allowed,
        fmt::format("{} of a region of {} is not kernel (a = {} of {}); raise --traffic, "
                    "or believe nothing",
                    percent(fit.overhead_share), name_of(evidence, role), duration(fit.per_region),
                    duration(region)));
  const double highest = region > 0 ? cost.high / region : 0;
  if (highest > kWidest * allowed)
    return curable(
        highest, kWidest * allowed,
        fmt::format("up to {} of a region of {} may not be kernel (a between {} and {} of "
                    "{}): not identifiable in this noise; raise --traffic, or quieten the "
                    "machine",
                    percent(highest), name_of(evidence, role), duration(cost.low),
                    duration(cost.high), duration(region)));
  return passed(kName, fit.overhead_share, allowed);
}

}  // namespace

Finding overhead(const Evidence& evidence) {
  const Finding incumbent = check(evidence, Role::kIncumbent);
  const Finding candidate = check(evidence, Role::kCandidate);
  if (incumbent.passed != candidate.passed) return incumbent.passed ? candidate : incumbent;
  return incumbent.seen > candidate.seen ? incumbent : candidate;
}

}  // namespace tare::judge::gates
