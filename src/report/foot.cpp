// What stands below the table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "judge/words.h"
#include "report/columns.h"
#include "report/details.h"
#include "report/encode.h"
#include "report/serving.h"
#include "report/table.h"
#include "report/text.h"
#include "report/together.h"

namespace tare::report {
namespace {

// Of the values above 0 of such rows; 0 when there are none.
template <typename Condition>
double median_of_measured(const std::vector<Row>& rows, double judge::Judgement::*member,
                          Condition condition) {
  std::vector<double> values;
  for (const Row& row : rows) {
    if (!condition(row)) continue;
    const double value = row.judgement.*member;
    if (value > 0 && std::isfinite(value)) values.push_back(value);
  }
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double widest_control_deviation(const std::vector<Row>& rows) {
  double widest = 0;
  for (const Row& row : rows) {
    const double ratio = row.judgement.control_ratio;
    if (ratio > 0 && std::isfinite(ratio)) widest = std::max(widest, std::abs(ratio - 1));
  }
  return widest;
}

// Which peak a row's arithmetic is held against: that of the arm that measured it
// (modules/limit.cpp).
enum class Peak { kBf16, kF32, kInt8 };

Peak peak_of(const Row& row) {
  const tare_problem& problem = row.weighing.problem;
  if (problem.activations == TARE_BF16_AS_INT8) return Peak::kInt8;
  const bool wide =
      problem.weights == TARE_F16 || problem.weights == TARE_F32 || problem.activations == TARE_F32;
  return wide ? Peak::kF32 : Peak::kBf16;
}

std::string limit_line(const std::vector<Row>& rows) {
  const auto any = [](const Row&) { return true; };
  const auto peak = [&](Peak kind) {
    return median_of_measured(rows, &judge::Judgement::peak_operations_per_second,
                              [&](const Row& row) { return peak_of(row) == kind; }) /
           1e12;
  };
  std::vector<std::string> limits;
  if (const double stream =
          median_of_measured(rows, &judge::Judgement::stream_bytes_per_second, any);
      stream > 0)
    limits.push_back(fmt::format("stream {:.1f} GB/s", stream / 1e9));
  if (const double bf16 = peak(Peak::kBf16); bf16 > 0)
    limits.push_back(fmt::format("bf16 {:.2f} TFLOP/s", bf16));
  if (const double f32 = peak(Peak::kF32); f32 > 0)
    limits.push_back(fmt::format("f32 {:.2f} TFLOP/s", f32));
  if (const double int8 = peak(Peak::kInt8); int8 > 0)
    limits.push_back(fmt::format("int8 {:.2f} TOP/s", int8));
  if (limits.empty()) return {};
  return fmt::format(
      "Limits measured here, in the same blocks (median over rows): {}. The incumbent weighed "
      "against itself: at most {} apart.\n",
      fmt::join(limits, ", "), judge::percent(widest_control_deviation(rows)));
}

std::string weighed_names(const problem::Model& model, const std::vector<Row>& rows) {
  std::string names;
  for (const problem::Projection& projection : model.projections) {
    const bool has_row = std::ranges::any_of(rows, [&](const Row& row) {
      return row.model == model.name && row.projection == projection.name;
    });
    if (has_row) names += (names.empty() ? "" : ", ") + name_text(projection.name);
  }
  return names;
}

std::string gain_text(const ServingGain& gain) {
  if (gain.served == 0) return fmt::format("{}: none", rows_text(gain.rows));
  return fmt::format("{}: {:.1f} % less time [{:.1f}, {:.1f}]", rows_text(gain.rows),
                     100 * gain.saved, 100 * gain.interval.low, 100 * gain.interval.high);
}

std::string serving_sentence(const std::vector<ServingGain>& gains) {
  const bool any_served =
      std::ranges::any_of(gains, [](const ServingGain& gain) { return gain.served > 0; });
  if (!any_served) return "No row of it is marked serve.";
  std::string text;
  for (const ServingGain& gain : gains) text += (text.empty() ? "" : "; ") + gain_text(gain);
  return "Serving the rows marked serve, a token's projections at " + text + '.';
}

bool is_bare_shape(const problem::Model& model) {
  return std::ranges::all_of(model.projections, [](const auto& p) { return p.name == "-"; });
}

std::string share_lines(const Results& results, const std::vector<bool>& stands) {
  std::string lines;
  bool estimated = false;
  for (const problem::Model& model : results.header.models) {
    const double share = weighed_share(model, results.rows);
    if (share == 0 || is_bare_shape(model)) continue;
    const std::vector<ServingGain> gains = serving_gains(model, results.rows, stands);
    for (const ServingGain& gain : gains) estimated = estimated || gain.served > 0;
    lines += fmt::format("{}: {} hold {:.1f} % of the weights that a token reads. {}\n",
                         name_text(model.name), weighed_names(model, results.rows), 100 * share,
                         serving_sentence(gains));
  }
  if (estimated) {
    lines +=
        "  (Only what was weighed is counted as gained: the other weights are taken to be read at "
        "the incumbents' GB/s, unchanged; attention and all else is left out.)\n";
  }
  return lines;
}

// Beside the wins, so that nobody takes another's missing thread for his own merit.
std::string weak_lines(const std::vector<Row>& rows) {
  struct Weak {
    std::uint32_t rows = 0, won = 0;
    double least = 0, most = 0;  // ratios of those won
  };
  std::map<std::string, Weak> found;
  for (const Row& row : rows) {
    const weigh::Arm* incumbent = weigh::arm_of(row.weighing, weigh::Role::kIncumbent);
    const std::string how = incumbent == nullptr ? "" : weakness(*incumbent);
    if (how.empty()) continue;
    Weak& weak = found[fmt::format("{} {}", printable(incumbent->title), how)];
    ++weak.rows;
    if (row.judgement.verdict != judge::Verdict::kWin) continue;
    const double ratio = row.judgement.ratio;
    weak.least = weak.won == 0 ? ratio : std::min(weak.least, ratio);
    weak.most = std::max(weak.most, ratio);
    ++weak.won;
  }
  std::string text;
  for (const auto& [how, weak] : found) {
    text += fmt::format("* {}: a weak incumbent, by its own choice.", how);
    if (weak.won > 0)
      text += fmt::format(
          " Won against it: {} of {} ({} to {}); a part of that is of its own making.", weak.won,
          rows_text(weak.rows), ratio_text(weak.least), ratio_text(weak.most));
    text += '\n';
  }
  return text;
}

// Each cause once, with the sentence of its first row. What failed has its sentence under its row
// already.
std::string refusal_lines(const std::vector<Row>& rows, const TableStyle& style) {
  std::map<std::string, std::vector<const Row*>> by_cause;
  for (const Row& row : rows) {
    const bool explains =
        row.judgement.verdict == judge::Verdict::kRefused && !row.weighing.failure;
    if (explains) by_cause[row.judgement.cause].push_back(&row);
  }
  std::string lines;
  for (const auto& [cause, refused] : by_cause) {
    const Row& first = *refused.front();
    lines += painted(fmt::format("{} refused: {}.", rows_text(refused.size()), printable(cause)),
                     Colour::kYellow, style);
    lines += fmt::format(" {}{}: {}\n", refused.size() > 1 ? "First, " : "", row_name(first),
                         printable(first.judgement.cause_sentence));
  }
  return lines;
}

// "2 rows: A; B", and no more than a person reads.
std::string list_of(const std::vector<const Row*>& rows) {
  constexpr std::size_t kMost = 5;
  std::string names;
  for (std::size_t i = 0; i < std::min(rows.size(), kMost); ++i) {
    names += (names.empty() ? "" : "; ") + row_name(*rows[i]);
  }
  if (rows.size() > kMost) names += fmt::format("; and {} more", rows.size() - kMost);
  return names;
}

template <typename Condition>
std::vector<const Row*> rows_that(const std::vector<Row>& rows, Condition condition) {
  std::vector<const Row*> found;
  for (const Row& row : rows) {
    if (condition(row.judgement)) found.push_back(&row);
  }
  return found;
}

// Each row is as sure as its own evidence; of many rows some win by luck.
std::string alone_line(const Results& results, const std::vector<bool>& stands) {
  std::vector<const Row*> alone;
  for (std::size_t i = 0; i < stands.size(); ++i) {
    const Row& row = results.rows[i];
    if (row.judgement.verdict == judge::Verdict::kWin && !stands[i]) alone.push_back(&row);
  }
  if (alone.empty()) return {};
  return fmt::format(
      "Won alone, but not together with the other rows: {}. Among {} some may win by luck; that at "
      "most {} of the wins be false (e-BH) takes more evidence than that: kept.\n",
      list_of(alone), rows_text(results.rows.size()), judge::percent(kFalseShare));
}

// A line is printed before the rows behind it are known; with them its win may have come to stand.
std::string stood_later_lines(const Results& results, const std::vector<bool>& stands) {
  std::map<judge::Decision, std::vector<const Row*>> later;
  for (std::size_t i = 0; i < stands.size(); ++i) {
    const Row& row = results.rows[i];
    if (row.judgement.decision != judge::Decision::kKeep && stands[i] &&
        !stands_when_printed(results, i))
      later[row.judgement.decision].push_back(&row);
  }
  std::string lines;
  for (const auto& [decision, rows] : later)
    lines += fmt::format("Together with the rows behind it, no longer alone: {}: {}.\n",
                         judge::to_string(decision), list_of(rows));
  return lines;
}

std::string unconfirmed_line(const std::vector<Row>& rows, const judge::Rules& rules) {
  const auto decided_once = rows_that(rows, [](const judge::Judgement& judgement) {
    return judgement.unconfirmed && !judgement.within_luck &&
           judgement.verdict == judge::Verdict::kInconclusive;
  });
  if (decided_once.empty()) return {};
  return fmt::format(
      "Decided once, but not confirmed on {} placements (it may be luck of choice or of memory): "
      "{}.\n",
      rules.verdict_placements, list_of(decided_once));
}

std::string luck_line(const std::vector<Row>& rows) {
  const auto lucky = rows_that(rows, [](const judge::Judgement& judgement) {
    return judgement.within_luck && judgement.verdict == judge::Verdict::kInconclusive;
  });
  if (lucky.empty()) return {};
  return fmt::format(
      "Every placement said the same, but less clearly than they differ from each other and from "
      "their controls: {}.\n",
      list_of(lucky));
}

std::string dispatch_win_line(const std::vector<Row>& rows) {
  const auto dispatch_wins = rows_that(rows, [](const judge::Judgement& judgement) {
    return judgement.dispatch_win && judgement.verdict == judge::Verdict::kWin;
  });
  if (dispatch_wins.empty()) return {};
  return fmt::format(
      "Dispatch win, kept: {}. Most of what is gained is a cost per dispatch (of calling it, or "
      "of a kernel's beginning and end), not time per byte of weights: another way of calling may "
      "gain it, too.\n",
      list_of(dispatch_wins));
}

std::string undecided_line(const std::vector<Row>& rows) {
  const auto undecided = rows_that(rows, [](const judge::Judgement& judgement) {
    return judgement.verdict == judge::Verdict::kInconclusive && judgement.seconds_to_decide > 0;
  });
  if (undecided.empty()) return {};
  const Row& least = **std::ranges::min_element(
      undecided, {}, [](const Row* row) { return row->judgement.seconds_to_decide; });
  return fmt::format("{} inconclusive; the least undecided, {}: {} (--seconds-per-row).\n",
                     rows_text(undecided.size()), row_name(least),
                     decides_text(least.judgement.seconds_to_decide));
}

// Others that take turns with the arms on a device: of every row, whatever came of it.
std::string neighbour_line(const std::vector<Row>& rows) {
  const auto note_of = [](const Row& row) -> std::string {
    const auto noise = std::ranges::find(row.judgement.gates, "noise", &judge::Finding::gate);
    return noise == row.judgement.gates.end() ? "" : noise->sentence;
  };
  std::vector<const Row*> shared;
  for (const Row& row : rows) {
    const bool others =
        std::ranges::any_of(row.weighing.device_states,
                            [](const weigh::DeviceState& state) { return state.others_busy > 0; });
    if (others && !note_of(row).empty()) shared.push_back(&row);
  }
  if (shared.empty()) return {};
  return fmt::format("Not alone: {}. Of the first: {}.\n", list_of(shared),
                     printable(note_of(*shared.front())));
}

std::string trade_line(const Results& results) {
  const bool any = std::ranges::any_of(results.rows, [](const Row& row) {
    return row.judgement.decision == judge::Decision::kTrade;
  });
  if (!any) return {};
  return fmt::format("trade: faster, but {}; served only if you accept that.\n",
                     broken_equality_text(results.header.rules.equality));
}

std::string absent_line(const Header& header, const TableStyle& style) {
  std::string list;
  bool more = false;
  for (const Library& library : header.libraries) {
    if (library.found || library.limit) continue;
    if (library.on_request && !style.all) {
      more = true;
      continue;
    }
    list += fmt::format("{}{} ({})", list.empty() ? "" : "; ",
                        name_text(library.title.empty() ? library.arm : library.title),
                        printable(library.reason));
  }
  return (list.empty() ? "" : "Absent: " + list + ".\n") +
         (more ? "More incumbents: ./tare incumbents\n" : "");
}

std::string end_line(const Results& results) {
  const std::string count = rows_text(results.rows.size());
  if (!results.footer) return fmt::format("The run was cut short after {}.\n", count);
  if (results.footer->interrupted) return fmt::format("Interrupted after {}.\n", count);
  return fmt::format("{} in {:.0f} s. ", count, results.footer->seconds);
}

std::string more_line(const TableStyle& style) {
  return fmt::format("More: {}--json FILE keeps every sample, tare replay FILE prints it again.\n",
                     style.all ? "" : "--all shows every incumbent, ");
}

}  // namespace

std::string table_foot(const Results& results, const TableStyle& style) {
  const std::vector<bool> stands = wins_that_stand(results);
  return limit_line(results.rows) + share_lines(results, stands) + weak_lines(results.rows) +
         refusal_lines(results.rows, style) + alone_line(results, stands) +
         stood_later_lines(results, stands) + unconfirmed_line(results.rows, results.header.rules) +
         luck_line(results.rows) + dispatch_win_line(results.rows) + undecided_line(results.rows) +
         neighbour_line(results.rows) + trade_line(results) + absent_line(results.header, style) +
         end_line(results) + more_line(style);
}

}  // namespace tare::report
