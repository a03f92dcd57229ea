#include "report/details.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "judge/words.h"
#include "report/columns.h"
#include "report/encode.h"
#include "report/names.h"
#include "report/text.h"

namespace tare::report {
namespace {

constexpr const char* kIndent = "    ";

bool shows_naive(const Header& header, const TableStyle& style) {
  const auto columns = layout(header, style);
  return std::ranges::find(columns, Column::kNaive, &ColumnLayout::column) != columns.end();
}

const judge::Fit* fit_of(const Row& row, weigh::Role role) {
  const auto found = row.judgement.fits.find(role);
  return found == row.judgement.fits.end() ? nullptr : &found->second;
}

bool is_identifiable(const Row& row) {
  const judge::Fit* incumbent = fit_of(row, weigh::Role::kIncumbent);
  const judge::Fit* candidate = fit_of(row, weigh::Role::kCandidate);
  return incumbent != nullptr && candidate != nullptr && incumbent->identifiable &&
         candidate->identifiable;
}

// The error that an unfitted harness would have printed, beside what the fit says.
std::string naive_line(const Row& row) {
  const std::string fitted =
      is_identifiable(row) ? ratio_text(row.judgement.ratio) : "not identifiable";
  return fmt::format("{}naive ratio {} (mean region time), fitted {}\n", kIndent,
                     ratio_text(row.judgement.naive_ratio), fitted);
}

std::string fit_line(const weigh::Arm& arm, const judge::Fit& fit) {
  const std::string overhead =
      fit.identifiable ? fmt::format("a = {} ({} of a region)", judge::duration(fit.per_region),
                                     judge::percent(fit.overhead_share))
                       : "a not identifiable";
  return fmt::format("{}{:<9}  {}: t = {}, {}; prepared in {}, {} a slot\n", kIndent,
                     word_for_role(arm.role), ran_as(arm), judge::duration(fit.per_dispatch),
                     overhead, judge::duration(arm.prepare_seconds),
                     judge::bytes(static_cast<double>(arm.prepared_bytes)));
}

std::string fit_lines(const Row& row) {
  std::string lines;
  for (const weigh::Role role :
       {weigh::Role::kIncumbent, weigh::Role::kControl, weigh::Role::kCandidate}) {
    const weigh::Arm* arm = weigh::arm_of(row.weighing, role);
    const judge::Fit* fit = fit_of(row, role);
    if (arm != nullptr && fit != nullptr) lines += fit_line(*arm, *fit);
  }
  const double pays_after = row.judgement.break_even_dispatches;
  if (pays_after > 0 && std::isfinite(pays_after)) {
    lines += fmt::format("{}the candidate's dearer preparing pays after {:.0f} dispatches\n",
                         kIndent, std::ceil(pays_after));
  }
  return lines;
}

std::string screened_line(const Screened& screened, double fastest, const Header& header,
                          const TableStyle& style) {
  const bool ran = screened.reason.empty() && screened.seconds_per_dispatch > 0;
  const Cell title{name_text(screened.title.empty() ? screened.arm : screened.title)};
  if (!ran) {
    return line_of(layout(header, style),
                   {{}, {}, {}, {}, title, {"-"}, {printable(screened.reason)}}, style);
  }
  const std::string relative = fmt::format("{} the time of the fastest, in the screening",
                                           ratio_text(screened.seconds_per_dispatch / fastest));
  return line_of(layout(header, style),
                 {{}, {}, {}, {}, title, {fmt::format("{:.1f}", screened.gbps)}, {relative}},
                 style);
}

// The first of the screened is the row's incumbent, and has the row itself.
std::string screened_lines(const Row& row, const Header& header, const TableStyle& style) {
  double fastest = 0;
  std::string lines;
  for (const Screened& screened : row.screened) {
    const bool is_incumbent = fastest == 0 && screened.reason.empty();
    if (is_incumbent) {
      fastest = screened.seconds_per_dispatch;
    } else {
      lines += screened_line(screened, fastest, header, style);
    }
  }
  return lines;
}

}  // namespace

std::string weakness(const weigh::Arm& incumbent) {
  const tare_dispatch_record& ran = incumbent.dispatched;
  std::string text;
  if (ran.threads > 0 && ran.threads < incumbent.threads_offered)
    text = fmt::format("took {} of the {} threads it was offered", ran.threads,
                       incumbent.threads_offered);
  // As modules word it: "x86-64 baseline".
  if (field_text(ran.isa).find("baseline") != std::string::npos)
    text += fmt::format("{}uses no vector instructions beyond the {}", text.empty() ? "" : " and ",
                        printable(field_text(ran.isa)));
  return text;
}

std::string broken_equality_text(judge::Equality asked) {
  switch (asked) {
    case judge::Equality::kIncumbent:
      return "with other bits than the incumbent's";
    case judge::Equality::kOneRow:
      return "its rows have other bits than the incumbent's one-row results";
    case judge::Equality::kSelf:
      return "the bits of a row depend on what is dispatched with it";
    case judge::Equality::kBounded:
      return "farther from fp64 than the incumbent";
  }
  return {};
}

std::string ratio_text(double ratio) {
  if (!(ratio > 0) || !std::isfinite(ratio)) return "-";
  return ratio < 9.9995 ? fmt::format("{:.3f}x", ratio) : fmt::format("{:.1f}x", ratio);
}

std::string decides_text(double seconds) {
  constexpr double kWorthIt = 3600;
  if (seconds > kWorthIt) return "more than an hour of regions would be needed to decide it";
  return fmt::format("about {} more of regions would decide it", judge::duration(seconds));
}

std::string ran_as(const weigh::Arm& arm) {
  const std::string kernel = printable(field_text(arm.dispatched.kernel));
  const std::string isa = printable(field_text(arm.dispatched.isa));
  std::string text = printable(arm.title);
  for (const std::string& part : {kernel, isa}) {
    if (!part.empty()) text += ", " + part;
  }
  if (arm.dispatched.threads > 0) text += fmt::format(", {} threads", arm.dispatched.threads);
  return text;
}

std::string row_details(const Row& row, const Header& header, const TableStyle& style) {
  std::string lines;
  if (row.weighing.failure) {
    lines += fmt::format("{}failed: {}\n", kIndent, printable(*row.weighing.failure));
  }
  if (row.judgement.cause == "overhead" && !shows_naive(header, style)) lines += naive_line(row);
  if (style.all) lines += fit_lines(row) + screened_lines(row, header, style);
  return lines;
}

}  // namespace tare::report
