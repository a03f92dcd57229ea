#include "judge/judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "judge/evidence.h"
#include "judge/fit.h"
#include "judge/gates/gates.h"
#include "judge/luck.h"
#include "judge/order.h"
#include "judge/verdict.h"

namespace tare::judge {
namespace {

using weigh::Role;

// Placements that count, each with its evidence. Elements stay where they are: evidence refers to
// its weighing.
struct Part {
  Part(weigh::Weighing samples, const Rules& rules)
      : weighing(std::move(samples)), evidence(gather(weighing, rules)) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  weigh::Weighing weighing;
  Evidence evidence;
};

void split(const weigh::Weighing& weighing, const Rules& rules, std::deque<Part>& parts) {
  for (std::uint32_t i = 0; i < weighing.placements.size(); ++i)
    if (weighing.placements[i].set_aside.empty())
      parts.emplace_back(weigh::of_placement(weighing, i), rules);
  if (parts.empty()) {
    weigh::Weighing nothing = weighing;
    nothing.regions.clear();
    parts.emplace_back(std::move(nothing), rules);
  }
}

double time_of(const Evidence& evidence, Role role) {
  const auto found = evidence.fits.find(role);
  return found == evidence.fits.end() ? 0 : std::max(0.0, found->second.per_dispatch);
}

double naive_time_of(const Evidence& evidence, Role role) {
  const auto found = evidence.fits.find(role);
  return found == evidence.fits.end() ? 0 : found->second.naive_per_dispatch;
}

double quotient(double dividend, double divisor) {
  return divisor > 0 ? dividend / divisor : 0;
}

// The fastest that was seen of a limit; 0: it was not weighed.
double floor_of(const std::deque<Part>& parts, const Rules& rules, Role role) {
  double least = time_of(parts.back().evidence, role);
  for (const Part& part : parts) {
    const double seconds = time_of(part.evidence, role);
    if (rules.limit_of_all_placements && seconds > 0 && (least == 0 || seconds < least))
      least = seconds;
  }
  return least;
}

void measure_limits(const std::deque<Part>& parts, const Rules& rules, Judgement& judgement) {
  const Evidence& evidence = parts.back().evidence;
  const double stream = floor_of(parts, rules, Role::kStream);
  const double peak = floor_of(parts, rules, Role::kPeak);
  const double bytes = weigh::weight_bytes(evidence.weighing);
  judgement.limit_seconds = std::max(stream, peak);
  judgement.bound = peak > stream ? Bound::kCompute : Bound::kMemory;
  judgement.stream_bytes_per_second = quotient(bytes, stream);
  judgement.peak_operations_per_second = quotient(weigh::operations(evidence.weighing), peak);
  judgement.incumbent_gbps = quotient(bytes, time_of(evidence, Role::kIncumbent)) / 1e9;
  judgement.candidate_gbps = quotient(bytes, time_of(evidence, Role::kCandidate)) / 1e9;
  judgement.gap = quotient(time_of(evidence, Role::kIncumbent), judgement.limit_seconds);
}

// All times of an arm's rounds, per dispatch.
std::vector<double> all_rounds(const Evidence& evidence, Role role) {
  std::vector<double> times;
  const auto arm = evidence.blocks.arms.find(role);
  if (arm == evidence.blocks.arms.end()) return times;
  for (const std::vector<double>& rounds : arm->second.round_seconds)
    for (const double seconds : rounds)
      times.push_back(seconds / static_cast<double>(arm->second.round_dispatches));
  return times;
}

double tail_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const std::size_t at = values.size() * 9 / 10;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

void measure_ratios(const Evidence& evidence, Judgement& judgement) {
  judgement.control_ratio = evidence.control.ratio;
  judgement.control_interval = evidence.control.interval;
  judgement.naive_ratio = quotient(naive_time_of(evidence, Role::kIncumbent),
                                   naive_time_of(evidence, Role::kCandidate));
  const auto incumbents = all_rounds(evidence, Role::kIncumbent);
  const auto candidates = all_rounds(evidence, Role::kCandidate);
  judgement.mean_ratio = quotient(mean(incumbents), mean(candidates));
  judgement.tail_ratio = quotient(tail_of(incumbents), tail_of(candidates));
  const weigh::Arm* incumbent = weigh::arm_of(evidence.weighing, Role::kIncumbent);
  const weigh::Arm* candidate = weigh::arm_of(evidence.weighing, Role::kCandidate);
  if (incumbent != nullptr && candidate != nullptr)
    judgement.break_even_dispatches =
        break_even(incumbent->prepare_seconds, candidate->prepare_seconds,
                   time_of(evidence, Role::kIncumbent), time_of(evidence, Role::kCandidate));
}

// What all placements say together: the interval around all of theirs, the evidence of all.
void pool(const std::deque<Part>& parts, Judgement& judgement) {
  double log_sum = 0, least = 0, most = 0;
  for (const Part& part : parts) {
    const Comparison& own = part.evidence.candidate;
    const bool first = &part == &parts.front();
    const auto around = [&](Interval& all, const Interval& one) {
      all = first ? one : Interval{std::min(all.low, one.low), std::max(all.high, one.high)};
    };
    around(judgement.interval, own.interval);
    around(judgement.verdict_interval, own.verdict_interval);
    least = first ? own.ratio : std::min(least, own.ratio);
    most = first ? own.ratio : std::max(most, own.ratio);
    log_sum += own.ratio > 0 ? std::log(own.ratio) : 0;
    judgement.log_evidence += own.log_evidence;
    judgement.blocks += static_cast<std::uint32_t>(part.evidence.blocks.count());
    for (const weigh::Region& region : part.weighing.regions)
      if (!weigh::is_limit(region.arm) && std::isfinite(region.seconds))
        judgement.weighed_seconds += std::max(0.0, region.seconds);
  }
  judgement.placements = static_cast<std::uint32_t>(parts.size());
  if (least > 0) {
    judgement.ratio = std::exp(log_sum / static_cast<double>(parts.size()));
    judgement.placement_spread = most / least;
  }
}

// Which ratios luck of placement leaves open, where verdicts take several; else the ratio alone.
Interval luck(const std::deque<Part>& parts, const Rules& rules, double ratio, double alpha) {
  if (rules.most_placements < 2 || parts.size() < 2 || !(ratio > 0)) return {ratio, ratio};
  std::vector<double> ratios, controls;
  for (const Part& part : parts) {
    if (part.evidence.candidate.ratio > 0)
      ratios.push_back(std::log(part.evidence.candidate.ratio));
    if (part.evidence.control.ratio > 0) controls.push_back(std::log(part.evidence.control.ratio));
  }
  const double looks =
      1.0 + rules.most_placements - std::min(rules.verdict_placements, rules.most_placements);
  const double factor = std::exp(placement_luck(ratios, controls, alpha / looks));
  return {ratio / factor, ratio * factor};
}

void widen(Interval& interval, const Interval& by) {
  interval = {std::min(interval.low, by.low), std::max(interval.high, by.high)};
}

// Placements must agree; a verdict must have been found as often as the rules ask, and stand
// whatever luck makes of it.
void decide(const std::deque<Part>& parts, const Rules& rules, Judgement& judgement) {
  const Interval open = luck(parts, rules, judgement.ratio, rules.verdict_alpha);
  widen(judgement.interval, luck(parts, rules, judgement.ratio, rules.alpha));
  widen(judgement.verdict_interval, open);
  judgement.verdict = parts.front().evidence.candidate.verdict;
  for (const Part& part : parts)
    if (part.evidence.candidate.verdict != judgement.verdict)
      judgement.verdict = Verdict::kInconclusive;
  const bool won = judgement.verdict == Verdict::kWin, lost = judgement.verdict == Verdict::kLoss;
  const bool equal = judgement.verdict == Verdict::kEquivalent;
  const bool may_differ = open.low < 1 - rules.equivalence || open.high > 1 + rules.equivalence;
  judgement.within_luck = (won && judgement.verdict_interval.low < 1) ||
                          (lost && judgement.verdict_interval.high > 1) ||
                          (equal && may_differ && rules.equivalence_placements > 1);
  const std::size_t asked = equal ? rules.equivalence_placements : rules.verdict_placements;
  const std::size_t needed = judgement.within_luck ? rules.most_placements : asked;
  judgement.unconfirmed = (won || lost || equal) && parts.size() < needed;
  if (judgement.unconfirmed || judgement.within_luck) judgement.verdict = Verdict::kInconclusive;
}

// So much of a candidate's gain may be a smaller cost per dispatch before it is nothing else.
constexpr double kDispatchShare = 0.9;

bool tells_costs(const Evidence& evidence) {
  return std::ranges::all_of(std::array{Role::kIncumbent, Role::kCandidate}, [&](Role role) {
    return evidence.blocks.arms.contains(role) && evidence.fits.at(role).split_identifiable;
  });
}

DispatchCosts costs_of(const Evidence& evidence) {
  DispatchCosts costs;
  const auto& arms = evidence.blocks.arms;
  add_dispatch_costs({arms.at(Role::kIncumbent), evidence.fits.at(Role::kIncumbent)},
                     {arms.at(Role::kCandidate), evidence.fits.at(Role::kCandidate)}, costs);
  return costs;
}

// As files of before were judged: by c, on the last placement.
bool was_dispatch_win(const Evidence& last) {
  const Fit &a = last.fits.at(Role::kIncumbent), &b = last.fits.at(Role::kCandidate);
  const bool cheaper = last.rules.dispatch_costs_by_block
                           ? cost_interval(costs_of(last).alone).low > 0
                           : a.dispatch_cost_interval.low > b.dispatch_cost_interval.high;
  const double gain = a.per_dispatch - b.per_dispatch;
  return cheaper && a.dispatch_cost - b.dispatch_cost >= kDispatchShare * gain;
}

// The candidate's gain is a smaller cost per dispatch. Not "its time per byte is no
// better": of a projection that is nearly all c that time is a difference of two nearly equal
// numbers, and its noise called such a win the kernel's (32x64: 5.6x, of a library's 0.6 us a
// call).
bool is_dispatch_win(const Judgement& judgement, const std::deque<Part>& parts,
                     const Rules& rules) {
  if (judgement.verdict != Verdict::kWin) return false;
  const Evidence& last = parts.back().evidence;
  if (!rules.dispatch_costs_by_slice) return tells_costs(last) && was_dispatch_win(last);
  DispatchCosts costs;
  double gain = 0;
  for (const Part& part : parts) {
    const Evidence& evidence = part.evidence;
    if (!tells_costs(evidence)) return false;
    const Fit &a = evidence.fits.at(Role::kIncumbent), &b = evidence.fits.at(Role::kCandidate);
    const auto& arms = evidence.blocks.arms;
    add_dispatch_costs({arms.at(Role::kIncumbent), a}, {arms.at(Role::kCandidate), b}, costs);
    gain += (a.per_dispatch - b.per_dispatch) / static_cast<double>(parts.size());
  }
  const double links = weigh::links(last.weighing);
  if (rules.calling_cost_at_most > 0 && gain > links * rules.calling_cost_at_most) return false;
  const double saved = links * median(costs.alone).value_or(0);
  return cost_interval(costs.thin).low > 0 && saved >= kDispatchShare * gain;
}

// Intervals shrink with the square root of time: until this one lies on one side of 1, or within
// the equivalence region.
double seconds_to_decide(const Judgement& judgement, const Rules& rules) {
  const Interval& interval = judgement.verdict_interval;
  if (judgement.verdict != Verdict::kInconclusive || !(judgement.ratio > 0) ||
      !(interval.low > 0) || !std::isfinite(interval.high))
    return 0;
  const double half = std::log(interval.high / interval.low) / 2;
  const double centre = std::fabs(std::log(interval.high * interval.low) / 2);
  const double target = std::max(centre, rules.equivalence - centre);
  const double factor = half / target;
  return judgement.weighed_seconds * std::max(0.0, factor * factor - 1);
}

// The first gate that failed is the cause: gates stand in the order in which a person would mend
// things.
void apply_gates(Judgement& judgement) {
  const auto failed = std::ranges::find(judgement.gates, false, &Finding::passed);
  if (failed == judgement.gates.end()) return;
  judgement.verdict = Verdict::kRefused;
  judgement.cause = failed->gate;
  judgement.cause_sentence = failed->sentence;
}

std::vector<Finding> findings_of(const std::deque<Part>& parts) {
  for (const Part& part : parts) {
    std::vector<Finding> findings = gates::check_all(part.evidence);
    const bool refuses = std::ranges::any_of(findings, [](const Finding& f) { return !f.passed; });
    if (refuses || &part == &parts.back()) return findings;
  }
  return {};
}

}  // namespace

Judgement judge(const weigh::Weighing& weighing, const Rules& rules) {
  std::deque<Part> parts;
  split(weighing, rules, parts);
  const Evidence& last = parts.back().evidence;
  Judgement judgement;
  judgement.fits = last.fits;
  judgement.bits = bits_of(weighing.proof);
  measure_limits(parts, rules, judgement);
  measure_ratios(last, judgement);
  pool(parts, judgement);
  decide(parts, rules, judgement);
  judgement.dispatch_win = is_dispatch_win(judgement, parts, rules);
  judgement.seconds_to_decide = seconds_to_decide(judgement, rules);
  judgement.gates = findings_of(parts);
  apply_gates(judgement);
  if (weighing.failure) {
    judgement.verdict = Verdict::kRefused;
    judgement.cause = "failed";
    judgement.cause_sentence = *weighing.failure;
  }
  judgement.decision =
      judgement.dispatch_win
          ? Decision::kKeep
          : decision_of(judgement.verdict, equality_of(weighing.proof, rules.equality));
  return judgement;
}

bool decided(const weigh::Weighing& weighing, const Rules& rules) {
  const std::size_t placements = weighing.placements.size();
  const auto last = static_cast<std::uint32_t>(placements == 0 ? 0 : placements - 1);
  return verdict_so_far(weigh::of_placement(weighing, last), rules) != Verdict::kInconclusive;
}

std::vector<bool> stand_together(const std::vector<std::optional<double>>& wins, std::size_t rows,
                                 double rate) {
  std::vector<double> evidence;
  for (const std::optional<double>& win : wins)
    if (win) evidence.push_back(*win);
  std::ranges::sort(evidence, std::greater<>());
  const auto all = static_cast<double>(std::max(rows, wins.size()));
  double threshold = std::numeric_limits<double>::infinity();
  for (std::size_t k = 1; k <= evidence.size(); ++k)
    if (evidence[k - 1] >= std::log(all / (static_cast<double>(k) * rate)))
      threshold = evidence[k - 1];
  std::vector<bool> stand;
  stand.reserve(wins.size());
  for (const std::optional<double>& win : wins) stand.push_back(win && *win >= threshold);
  return stand;
}

}  // namespace tare::judge
