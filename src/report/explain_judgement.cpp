// What the samples say, and how sure that is.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "judge/course.h"
#include "judge/words.h"
#include "report/details.h"
#include "report/explain_sections.h"
#include "report/text.h"
#include "report/together.h"

namespace tare::report::sections {
namespace {

using judge::Judgement;
using judge::Verdict;
using weigh::Role;

const judge::Fit* fit_of(const Row& row, Role role) {
  const auto found = row.judgement.fits.find(role);
  return found == row.judgement.fits.end() ? nullptr : &found->second;
}

bool is_known(double value) {
  return value > 0 && std::isfinite(value);
}

// " [1.20 µs, 1.31 µs]".
std::string around(const judge::Interval& interval) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return " [not known]";
  return fmt::format(" [{}, {}]", judge::duration(interval.low), judge::duration(interval.high));
}

std::string fit_text(const judge::Fit& fit) {
  std::string text = fmt::format("t = {}{} a dispatch", judge::duration(fit.per_dispatch),
                                 around(fit.per_dispatch_interval));
  text += fit.identifiable ? fmt::format("; a = {}{} a region", judge::duration(fit.per_region),
                                         around(fit.per_region_interval))
                           : std::string("; a is not identifiable");
  if (!fit.split_identifiable) return text + "; nor are c and s";
  return text + fmt::format("; c = {}{} a dispatch, s = {:.3g} ps a byte",
                            judge::duration(fit.dispatch_cost), around(fit.dispatch_cost_interval),
                            1e12 * fit.seconds_per_byte);
}

std::string limit_text(const Row& row) {
  const Judgement& judgement = row.judgement;
  const bool rounded = row.weighing.problem.activations == TARE_BF16_AS_INT8;
  const bool memory = judgement.bound == judge::Bound::kMemory;
  const std::string floor =
      memory
          ? fmt::format("reading the weights at {:.1f} GB/s",
                        judgement.stream_bytes_per_second / 1e9)
          : fmt::format("{:.2f} {} of {}multiply-adds", judgement.peak_operations_per_second / 1e12,
                        rounded ? "TOP/s" : "TFLOP/s", rounded ? "8-bit " : "");
  return fmt::format(
      "limit: {} a dispatch ({}, in the same blocks); the incumbent takes {:.2f} "
      "times that",
      judge::duration(judgement.limit_seconds), floor, judgement.gap);
}

// Whether two ratios would lead a person to other conclusions.
bool tell_apart(double one, double other) {
  constexpr double kWorthAWord = 0.01;
  return is_known(one) && is_known(other) && std::fabs(std::log(one / other)) > kWorthAWord;
}

double share_of(const Row& row, Role role) {
  const judge::Fit* fit = fit_of(row, role);
  return fit == nullptr ? 0 : fit->overhead_share;
}

// An e-value as a person reads it.
std::string evidence_text(double log_evidence) {
  constexpr double kPlain = 9.2;  // about 10,000
  if (log_evidence < kPlain) return fmt::format("{:.3g}", std::exp(log_evidence));
  return fmt::format("1e{:.0f}", std::floor(log_evidence / std::log(10.0)));
}

std::string course_text(const judge::Course& course) {
  std::string looks;
  for (const judge::Course::Look& look : course.looks) {
    looks += fmt::format("{}{} after {}", looks.empty() ? "" : ", ",
                         evidence_text(look.log_evidence), look.rounds);
  }
  if (looks.empty()) return "no complete round";
  looks += " rounds";
  if (course.verdict == Verdict::kInconclusive || course.decided_after == 0) {
    return looks + ": not enough";
  }
  return looks + fmt::format(": enough after {}, {}", course.decided_after,
                             judge::to_string(course.verdict));
}

void game(const Row& row, const judge::Rules& rules, const std::vector<judge::Course>& courses,
          const std::vector<std::uint32_t>& numbers, Sheet& sheet) {
  sheet.paragraph(
      "Game",
      fmt::format(
          "A capital of 1 bets in every round on who is who, half on faster, half on slower. Were "
          "the two equally fast, either half would ever reach {:.0f} with probability {} at most, "
          "however often it is looked at. The half that counts held:",
          1 / rules.verdict_alpha, judge::percent(rules.verdict_alpha)));
  for (std::size_t i = 0; i < courses.size(); ++i) {
    sheet.item("", fmt::format("placement {}: {}", numbers[i] + 1, course_text(courses[i])));
  }
  if (row.judgement.verdict == Verdict::kEquivalent) {
    sheet.item("", fmt::format("(against differences of {} on either side)",
                               judge::percent(rules.equivalence)));
  }
}

void interval(const Row& row, const judge::Rules& rules, const judge::Course& last, Sheet& sheet) {
  const Judgement& judgement = row.judgement;
  std::string text =
      fmt::format("{:g} %: {}. The verdict is read from the {:g} % one, {}: a table has many rows.",
                  100 * (1 - rules.alpha), interval_text(judgement.interval),
                  100 * (1 - rules.verdict_alpha), interval_text(judgement.verdict_interval));
  const judge::Correction& correction = last.correction;
  if (std::fabs(correction.factor - 1) > 1e-4) {
    text +=
        fmt::format(" Freed from the cost per region: by a factor of {:.4f}.", correction.factor);
  }
  if (judgement.placements > 1) {
    text += fmt::format(
        " Around those of {} placements, whose ratios lie {} apart, and what luck leaves open.",
        judgement.placements, judge::percent(judgement.placement_spread - 1));
  }
  sheet.paragraph("Interval", text);
}

void control(const Row& row, const judge::Course& last, Sheet& sheet) {
  const Judgement& judgement = row.judgement;
  if (!is_known(judgement.control_ratio)) {
    sheet.paragraph("Control", "None was weighed: luck of placement does not show.");
    return;
  }
  const std::string doubt =
      last.doubt > 1
          ? fmt::format(
                "It is not equal to itself, so that the candidate's interval is wider by {} "
                "on both sides.",
                judge::percent(last.doubt - 1))
          : "Nothing says that it differs from itself.";
  sheet.paragraph("Control",
                  fmt::format("The incumbent against itself, prepared a second time: {} {}. {}",
                              ratio_text(judgement.control_ratio),
                              interval_text(judgement.control_interval), doubt));
}

// "overhead 0.0002 of 0.02": what was seen, of what is allowed.
std::string seen_text(const judge::Finding& finding) {
  std::string gate = printable(finding.gate);
  if (finding.seen == 0 && finding.allowed == 0) return gate;
  return fmt::format("{} {:.2g} of {:.2g}", gate, finding.seen, finding.allowed);
}

std::string verdict_reason(const Row& row, const judge::Rules& rules) {
  const Judgement& judgement = row.judgement;
  switch (judgement.verdict) {
    case Verdict::kWin:
      return "the candidate is faster, and each placement says so by itself.";
    case Verdict::kLoss:
      return "the candidate is slower, and each placement says so by itself.";
    case Verdict::kEquivalent:
      return fmt::format("the difference is below {}, and that is known.",
                         judge::percent(rules.equivalence));
    case Verdict::kRefused:
      return judgement.cause == "failed"
                 ? printable(judgement.cause_sentence)
                 : "a gate failed, so that the ratio must not be believed, however nice.";
    case Verdict::kInconclusive:
      break;
  }
  if (judgement.within_luck) {
    return fmt::format(
        "each of {} placements says the same, but less clearly than the same arm differs from "
        "placement to placement here.",
        judgement.placements);
  }
  if (judgement.unconfirmed) {
    return fmt::format(
        "it was decided on {} placements of the {} that a verdict needs: it may be luck of choice "
        "or of memory.",
        judgement.placements, rules.verdict_placements);
  }
  if (judgement.placements > 1) return "the placements do not all say the same, or not enough.";
  return "the samples do not suffice to know. This is no verdict of equality.";
}

const char* kept_equality_text(judge::Equality asked) {
  switch (asked) {
    case judge::Equality::kIncumbent:
      return "it wins with the incumbent's bits.";
    case judge::Equality::kOneRow:
      return "it wins, and every row has the bits of the incumbent's one-row result.";
    case judge::Equality::kSelf:
      return "it wins, and the bits of a row depend on nothing beside it.";
    case judge::Equality::kBounded:
      return "it wins, and is no farther from fp64 than the incumbent.";
  }
  return "";
}

std::string decision_reason(const Row& row, const judge::Rules& rules) {
  const Judgement& judgement = row.judgement;
  if (judgement.decision == judge::Decision::kServe) return kept_equality_text(rules.equality);
  if (judgement.decision == judge::Decision::kTrade) {
    return fmt::format("it wins, but {}: serve it only if you accept that.",
                       broken_equality_text(rules.equality));
  }
  if (judgement.verdict != Verdict::kWin) return "the incumbent.";
  return judgement.dispatch_win ? "a dispatch win: most of the gain is a cost per dispatch, not "
                                  "time per byte of weights, "
                                  "and another way of calling may gain it, too."
                                : "it wins, but the equality asked for was not proved.";
}

std::string decision_text(const Row& row, const judge::Rules& rules, bool stands_together) {
  const judge::Decision decision = row.judgement.decision;
  if (decision != judge::Decision::kKeep && !stands_together)
    return fmt::format(
        "keep: alone it would be {}, but among all rows of the table its win does "
        "not stand.",
        judge::to_string(decision));
  return fmt::format("{}: {}", judge::to_string(decision), decision_reason(row, rules));
}

std::string next_step(const Row& row, bool stands_together) {
  const Judgement& judgement = row.judgement;
  switch (judgement.verdict) {
    case Verdict::kRefused:
      return judgement.cause == "failed" ? "Mend what failed, and weigh again."
                                         : "Do as the gate's sentence says, and weigh again.";
    case Verdict::kInconclusive:
      if (judgement.unconfirmed) return "Weigh it again, with more time (--seconds-per-row).";
      if (judgement.seconds_to_decide > 0) {
        return "Weigh longer (--seconds-per-row): " + decides_text(judgement.seconds_to_decide) +
               '.';
      }
      return "Weigh longer (--seconds-per-row), on a quieter machine.";
    case Verdict::kWin:
      if (!stands_together) {
        return fmt::format(
            "Weigh it again: alone it is sure, but among all rows of the table some "
            "win by luck (e-BH at {}).",
            judge::percent(kFalseShare));
      }
      break;
    case Verdict::kLoss:
    case Verdict::kEquivalent:
      break;
  }
  const double pays_after = judgement.break_even_dispatches;
  if (judgement.verdict == Verdict::kWin && is_known(pays_after)) {
    return fmt::format("Its dearer preparing pays after {:.4g} dispatches.", std::ceil(pays_after));
  }
  return "Nothing.";
}

}  // namespace

void times(const Row& row, Sheet& sheet) {
  const char* title = "Times";
  for (const Role role : {Role::kIncumbent, Role::kCandidate}) {
    const judge::Fit* fit = fit_of(row, role);
    if (fit == nullptr || !is_known(fit->per_dispatch)) continue;
    sheet.item(title, fmt::format("{}: {}", weigh::to_string(role), fit_text(*fit)));
    title = "";
  }
  if (row.judgement.limit_seconds > 0) sheet.item(title, limit_text(row));
}

void ratios(const Row& row, Sheet& sheet) {
  const Judgement& judgement = row.judgement;
  if (!is_known(judgement.ratio)) return;
  std::string text = fmt::format(
      "incumbent's time over the candidate's, of rounds: paired median "
      "{}, mean {}, 90th percentile {}.",
      ratio_text(judgement.ratio), ratio_text(judgement.mean_ratio),
      ratio_text(judgement.tail_ratio));
  if (tell_apart(judgement.mean_ratio, judgement.ratio) ||
      tell_apart(judgement.tail_ratio, judgement.ratio)) {
    text +=
        " They differ: some calls of one arm cost more than its usual one, or a neighbour "
        "disturbed it.";
  }
  sheet.paragraph("Ratio", text);
}

void naive(const Row& row, Sheet& sheet) {
  const Judgement& judgement = row.judgement;
  if (!is_known(judgement.naive_ratio)) return;
  const double incumbent = share_of(row, Role::kIncumbent);
  const double candidate = share_of(row, Role::kCandidate);
  std::string text = fmt::format(
      "{}: mean time of long regions over their dispatches, which is what a harness says that fits "
      "nothing. The cost per region is {} of the incumbent's and {} of the candidate's.",
      ratio_text(judgement.naive_ratio), judge::percent(incumbent), judge::percent(candidate));
  const double freed = judgement.naive_ratio * (1 - incumbent) / (1 - candidate);
  if (tell_apart(freed, judgement.naive_ratio)) {
    text += fmt::format(" Without it: {}.", ratio_text(freed));
  }
  if (tell_apart(freed, judgement.ratio)) {
    text +=
        " What remains is a mean against paired medians: it counts every slow phase, wherever it "
        "fell.";
  }
  sheet.paragraph("Naive", text);
}

void certainty(const Row& row, const judge::Rules& rules, Sheet& sheet) {
  std::vector<judge::Course> courses;
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < row.weighing.placements.size(); ++i) {
    if (!row.weighing.placements[i].set_aside.empty()) continue;
    courses.push_back(judge::course_of(weigh::of_placement(row.weighing, i), rules));
    numbers.push_back(i);
  }
  const bool played = std::ranges::any_of(
      courses, [](const judge::Course& course) { return !course.looks.empty(); });
  if (!played) return;
  game(row, rules, courses, numbers, sheet);
  interval(row, rules, courses.back(), sheet);
  control(row, courses.back(), sheet);
}

void gates(const Row& row, Sheet& sheet) {
  std::string passed;
  bool unsure = false;
  for (const judge::Finding& finding : row.judgement.gates) {
    if (!finding.passed) continue;
    passed += (passed.empty() ? "" : ", ") + seen_text(finding);
    unsure = unsure || finding.seen > finding.allowed;
  }
  std::string text = passed.empty() ? "none passed." : "passed, seen of allowed: " + passed + '.';
  if (unsure) text += " One refuses when it is sure: an estimate beyond what is allowed is not.";
  sheet.paragraph("Gates", text);
  for (const judge::Finding& finding : row.judgement.gates) {
    if (!finding.passed) {
      sheet.item("", fmt::format("failed: {}: {}", seen_text(finding), printable(finding.sentence)),
                 Colour::kYellow);
    } else if (!finding.sentence.empty()) {
      sheet.item("",
                 fmt::format("note: {}: {}", printable(finding.gate), printable(finding.sentence)));
    }
  }
}

void verdict(const Row& row, const judge::Rules& rules, bool stands_together, Sheet& sheet) {
  const Cell cell = verdict_cell(row.judgement);
  sheet.paragraph("Verdict", cell.text + ": " + verdict_reason(row, rules), cell.colour);
  sheet.paragraph("Decision", decision_text(row, rules, stands_together));
  sheet.paragraph("Next", next_step(row, stands_together));
}

}  // namespace tare::report::sections
