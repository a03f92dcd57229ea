#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "judge/order.h"
#include "judge/words.h"
#include "report/calibration.h"

namespace tare::report {
namespace {

using judge::CalibrationRow;
using judge::Recovery;
using judge::Verdict;

constexpr const char* kLine =
    "{:<17} {:<26} {:>4}  {:<17} {:>7} {:>5} {:>7}  {:>8} {:>8}  {:>7} "
    "{:>8} {:>8} {:>8} {:>8}  {:>7} {:>7}\n";

std::string share(std::uint32_t part, std::uint32_t whole) {
  return whole == 0 ? "-" : fmt::format("{}/{}", part, whole);
}

std::string deviation(std::optional<double> value) {
  return value ? fmt::format("{:+.2f} %", 100 * *value) : "-";
}

std::string time_text(double seconds) {
  return std::isfinite(seconds) ? judge::duration(seconds) : "-";
}

std::uint32_t count_of(const CalibrationRow& row, Verdict verdict) {
  const auto found = row.verdicts.find(verdict);
  return found == row.verdicts.end() ? 0 : found->second;
}

std::string verdicts_text(const CalibrationRow& row) {
  return fmt::format("{}/{}/{}/{}", count_of(row, Verdict::kWin),
                     count_of(row, Verdict::kEquivalent), count_of(row, Verdict::kLoss),
                     count_of(row, Verdict::kInconclusive));
}

std::string line_of(const CalibrationRow& row) {
  const bool directed = row.unidentifiable == 0;
  const std::uint32_t refused = count_of(row, Verdict::kRefused) + row.unidentifiable_refused;
  return fmt::format(fmt::runtime(kLine), row.setting, row.experiment, row.runs,
                     directed ? verdicts_text(row) : "-", share(refused, row.runs),
                     row.false_verdicts, share(row.covered, row.intervals),
                     deviation(row.intervals > 0 ? std::optional(row.bias) : std::nullopt),
                     deviation(judge::median(row.byte_errors)),
                     directed ? share(row.seen, row.runs) : "-", time_text(row.seen_region90),
                     time_text(row.seen_wall90), time_text(row.decided_region90),
                     time_text(row.decided_wall90), share(row.region.recovered, row.region.known),
                     share(row.dispatch.recovered, row.dispatch.known));
}

// What all rows say together.
struct Totals {
  std::uint32_t runs = 0, equal_runs = 0, equal_false = 0, false_verdicts = 0;
  std::uint32_t intervals = 0, covered = 0;
  Recovery region, dispatch;
  judge::Bias byte_bias;
  std::uint32_t unidentifiable = 0, unidentifiable_refused = 0;
  std::map<std::string, std::uint32_t> causes;
};

void add(const Recovery& part, Recovery& sum) {
  sum.known += part.known;
  sum.recovered += part.recovered;
}

Totals total(const std::vector<CalibrationRow>& rows) {
  Totals sum;
  for (const CalibrationRow& row : rows) {
    const std::uint32_t runs = row.runs - row.unidentifiable;
    sum.runs += runs;
    sum.false_verdicts += row.false_verdicts;
    if (row.equal_arms) {
      sum.equal_runs += runs;
      sum.equal_false += row.false_verdicts;
    }
    sum.intervals += row.intervals;
    sum.covered += row.covered;
    add(row.region, sum.region);
    add(row.dispatch, sum.dispatch);
    sum.unidentifiable += row.unidentifiable;
    sum.unidentifiable_refused += row.unidentifiable_refused;
    for (const auto& [cause, count] : row.causes) sum.causes[cause] += count;
  }
  sum.byte_bias = judge::bias_of_bytes(rows);
  return sum;
}

std::string bias_text(const judge::Bias& bias) {
  if (bias.runs == 0) return "none known";
  return fmt::format("{}, 95 % of the median in [{}, {}], {} runs", deviation(bias.median),
                     deviation(bias.interval.low), deviation(bias.interval.high), bias.runs);
}

std::string part_of(std::uint32_t part, std::uint32_t whole) {
  if (whole == 0) return "none tried";
  return fmt::format("{} of {} ({})", part, whole,
                     judge::percent(static_cast<double>(part) / static_cast<double>(whole)));
}

std::string causes_text(const std::map<std::string, std::uint32_t>& causes) {
  std::string text;
  for (const auto& [cause, count] : causes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", cause, count);
  return text.empty() ? "none" : text;
}

std::string foot_of(const Totals& sum) {
  return fmt::format(
      "win/equivalent/loss/inconclusive · 95 %: intervals that cover the planted ratio · bias: of "
      "the ratio, and of s, at the median\nseen: which is faster; 9 of 10 runs saw it, or had a "
      "verdict, within so much region time of the three arms, and wall time\na, c: recovered "
      "within "
      "2 µs or 5 %\n"
      "false verdicts, equal arms   {}\n"
      "false verdicts, all          {}\n"
      "intervals that cover         {}\n"
      "a recovered                  {}\n"
      "c recovered                  {}\n"
      "bias of s, all together      {}\n"
      "not identifiable: refused    {}\n"
      "honest arms refused          {}\n",
      part_of(sum.equal_false, sum.equal_runs), part_of(sum.false_verdicts, sum.runs),
      part_of(sum.covered, sum.intervals), part_of(sum.region.recovered, sum.region.known),
      part_of(sum.dispatch.recovered, sum.dispatch.known), bias_text(sum.byte_bias),
      part_of(sum.unidentifiable_refused, sum.unidentifiable), causes_text(sum.causes));
}

}  // namespace

std::string calibration_table(const std::vector<CalibrationRow>& rows) {
  std::string table = fmt::format(fmt::runtime(kLine), "setting", "candidate", "runs", "w/e/l/i",
                                  "refused", "false", "95 %", "bias", "of s", "seen", "seen in",
                                  "(wall)", "verdict", "(wall)", "a", "c");
  for (const CalibrationRow& row : rows) table += line_of(row);
  return table + '\n' + foot_of(total(rows));
}

std::string short_calibration(const std::vector<CalibrationRow>& rows, double seconds_per_row) {
  std::string text;
  for (const CalibrationRow& row : rows) {
    if (row.watched > 0 && std::isfinite(row.smallest90))
      text += fmt::format(
          "{:<17} differences of {} and more are seen within {:.1f} s a row ({} runs of equal "
          "arms, "
          "{} false)\n",
          row.setting, judge::percent(row.smallest90), seconds_per_row, row.runs,
          row.false_verdicts + row.seen_wrong);
    else if (row.watched > 0)
      text += fmt::format("{:<17} no difference is seen within {:.1f} s a row ({} runs)\n",
                          row.setting, seconds_per_row, row.runs);
    else
      text += fmt::format("{:<17} planted: {}; seen in {} of {} runs\n", row.setting,
                          row.experiment, row.seen - row.seen_wrong, row.runs);
  }
  return text;
}

}  // namespace tare::report
