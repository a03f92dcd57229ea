#include "report/proof_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "formats/weight_format.h"
#include "report/columns.h"
#include "report/sheet.h"
#include "report/text.h"

namespace tare::report {
namespace {

using prove::Certificate;
using prove::Held;
using prove::Invariance;

constexpr std::size_t kFootTitle = 19, kPageTitle = 19;  // the longest names, and a gap

// "1 to 32"; "1, 8, 32" where they do not follow each other.
std::string rows_of(const std::vector<std::uint32_t>& rows) {
  const bool whole = rows.back() - rows.front() + 1 == rows.size();
  if (whole && rows.size() > 2) return fmt::format("{} to {}", rows.front(), rows.back());
  return fmt::format("{}", fmt::join(rows, ", "));
}

std::string problem_text(const Certificate& certificate) {
  const tare_problem& problem = certificate.problem;
  const std::string activations =
      problem.activations == TARE_BF16
          ? ""
          : fmt::format(", {} activations", formats::type_name(problem.activations));
  const std::string whose = certificate.model
                                ? fmt::format("{} {}, ", printable(certificate.model->model),
                                              printable(certificate.model->matrix))
                                : "";
  const std::string bias =
      problem.bias == 0 ? "" : fmt::format(", {} bias", formats::type_name(problem.bias));
  return fmt::format("{}{}, {} weights{}{}, rows {}", whose, shape_text(problem.k, problem.n),
                     formats::type_name(problem.weights), activations, bias,
                     rows_of(certificate.rows));
}

// Where a model's own weights come from.
std::string origin_text(const prove::ModelWeights& weights) {
  return fmt::format("'{}' of {}, stored as {}, XXH3 {}", printable(weights.tensor),
                     printable(weights.file), printable(weights.stored), weights.digest);
}

Cell cell_of(Held held) {
  switch (held) {
    case Held::kEqual:
      return {"equal", Colour::kGreen};
    case Held::kDiffer:
      return {"differ", Colour::kRed};
    case Held::kNotTried:
      break;
  }
  return {"not tried", Colour::kDim};
}

Held all_neighbours(const Certificate& certificate) {
  Held worst = Held::kEqual;
  for (const Invariance& line : certificate.invariances) {
    if (!line.name.ends_with("neighbour") || line.held == Held::kEqual) continue;
    if (worst != Held::kDiffer) worst = line.held;
  }
  return worst;
}

Cell guard_cell(Held held) {
  const Cell cell = cell_of(held);
  if (held == Held::kEqual) return {"held", cell.colour};
  return held == Held::kDiffer ? Cell{"broken", cell.colour} : cell;
}

// The table has one figure for both: usual data of a model's kind, by which libraries are compared.
const prove::ClassResult* class_of(const Certificate& certificate, std::string_view name) {
  const auto found = std::ranges::find(certificate.classes, name, &prove::ClassResult::name);
  return found == certificate.classes.end() ? nullptr : &*found;
}

std::string error_text(const prove::ErrorAgainst64& error) {
  return error.elements == 0 ? "-" : fmt::format("{:.4g} max, {:.4g} rms", error.max, error.rms);
}

Cell bounded_cell(const Certificate& certificate) {
  if (certificate.incumbent.empty()) return {"-"};
  const bool bounded = prove::proves_bounded(certificate);
  return {bounded ? "yes" : "no", bounded ? Colour::kGreen : Colour::kNone};
}

// Where it is less exact than the incumbent: "normal 5.47 max for 4.86, 1.17 rms for 1.16; ...".
std::string larger_errors(const Certificate& certificate) {
  if (certificate.incumbent.empty()) return {};
  std::vector<std::string> parts;
  for (const prove::ClassResult& result : certificate.classes) {
    const prove::ErrorAgainst64 &own = result.error, &other = result.incumbent_error;
    std::vector<std::string> larger;
    if (own.max > other.max)
      larger.push_back(fmt::format("{:.4g} max for {:.4g}", own.max, other.max));
    if (own.rms > other.rms)
      larger.push_back(fmt::format("{:.4g} rms for {:.4g}", own.rms, other.rms));
    if (!larger.empty())
      parts.push_back(fmt::format("{} data {}", result.name, fmt::join(larger, ", ")));
  }
  if (parts.empty()) return {};
  return fmt::format("error above {}'s: {}", certificate.incumbent_title, fmt::join(parts, "; "));
}

std::vector<ColumnLayout> columns() {
  const auto column = [](const char* title, std::size_t width, bool right = false) {
    return ColumnLayout{Column::kModel, title, width, right};
  };
  return {column("implementation", 28),
          column("rows", 9),
          column("position", 9),
          column("neighbours", 10),
          column("threads", 9),
          column("ISA", 9),
          column("runs", 9),
          column("guard pages", 11),
          column("rms", 6, true),
          column("max", 6, true),
          column("low-bit rms", 11, true),
          column("self", 4),
          column("bounded", 7)};
}

std::string bits_text(std::uint32_t bits) {
  return fmt::format("{:#06x}", bits);
}

std::string place_text(const Invariance& line) {
  const prove::Place& place = line.first;
  return fmt::format("{}, row {} of {}, output {}: {} for {} ({} data; {} of {} elements differ)",
                     place.setting, place.row, place.rows, place.output, bits_text(place.got),
                     bits_text(place.wanted), place.data, line.differing, line.compared);
}

std::string kernels_text(const Certificate& certificate) {
  std::vector<std::string> parts;
  for (const prove::Ran& ran : certificate.implementation.ran)
    parts.push_back(fmt::format("{} at rows {}",
                                ran.isa.empty() ? ran.kernel : ran.kernel + ", " + ran.isa,
                                rows_of(ran.rows)));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string served_text(const Certificate& certificate) {
  std::vector<std::string> names;
  if (prove::proves_incumbent(certificate)) names.push_back("incumbent");
  if (prove::proves_one_row(certificate)) names.push_back("one-row");
  if (prove::proves_self(certificate)) names.push_back("self");
  if (prove::proves_bounded(certificate)) names.push_back("bounded");
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

void add_classes(const Certificate& certificate, Sheet& sheet) {
  for (const prove::ClassResult& result : certificate.classes) {
    std::string text = fmt::format("error {}", error_text(result.error));
    if (!certificate.incumbent.empty())
      text += fmt::format(
          "; incumbent {}; {} of {} elements differ from it, {} from its one-row results",
          error_text(result.incumbent_error), result.differing, result.elements,
          result.differing_one_row);
    if (result.class_mismatch > 0)
      text += fmt::format("; {} are NaN or infinite on one side only", result.class_mismatch);
    if (result.inexact > 0)
      text +=
          fmt::format("; {} of {} are not the exact sum", result.inexact, result.error.elements);
    sheet.paragraph(result.name, text, result.inexact > 0 ? Colour::kRed : Colour::kNone);
  }
}

void add_manners(const Certificate& certificate, Sheet& sheet) {
  const prove::Manners& manners = certificate.manners;
  const auto with_reason = [](const std::string& text, const std::string& why) {
    return why.empty() ? text : text + ": " + printable(why);
  };
  sheet.paragraph("guard pages",
                  with_reason(guard_cell(manners.guard_pages).text, manners.guard_pages_why),
                  cell_of(manners.guard_pages).colour);
  sheet.paragraph(
      "control word",
      with_reason(
          manners.control_word == Held::kEqual ? "unchanged" : cell_of(manners.control_word).text,
          manners.control_word_why),
      cell_of(manners.control_word).colour);
  if (!manners.wrote_outside.empty())
    sheet.paragraph("outside", printable(manners.wrote_outside), Colour::kRed);
  if (manners.unwritten > 0)
    sheet.paragraph("unwritten", fmt::format("{} elements were never written", manners.unwritten),
                    Colour::kRed);
}

}  // namespace

std::string proof_table_head(const Certificate& any, const TableStyle& style) {
  const std::vector<ColumnLayout> layout = columns();
  std::vector<Cell> titles;
  titles.reserve(layout.size());
  for (const ColumnLayout& column : layout) titles.push_back({column.title, Colour::kBold});
  const std::string origin = any.model ? origin_text(*any.model) + "\n" : "";
  return problem_text(any) + "\n" + origin + line_of(layout, titles, style);
}

std::string proof_table_row(const Certificate& certificate, const TableStyle& style) {
  const auto held = [&](std::string_view name) {
    return cell_of(prove::invariance(certificate, name).held);
  };
  const auto number = [&](std::string_view name, double prove::ErrorAgainst64::*which) {
    const prove::ClassResult* result = class_of(certificate, name);
    return Cell{result == nullptr ? "-" : fmt::format("{:.3g}", result->error.*which)};
  };
  const char* const usual = certificate.model ? "model" : "real";
  const bool self = prove::proves_self(certificate);
  return line_of(columns(),
                 {{name_text(certificate.implementation.title)},
                  held("rows"),
                  held("row position"),
                  cell_of(all_neighbours(certificate)),
                  held("threads"),
                  held("ISA"),
                  held("run to run"),
                  guard_cell(certificate.manners.guard_pages),
                  number(usual, &prove::ErrorAgainst64::rms),
                  number(usual, &prove::ErrorAgainst64::max),
                  number("cancelling", &prove::ErrorAgainst64::rms),
                  {self ? "yes" : "no", self ? Colour::kGreen : Colour::kNone},
                  bounded_cell(certificate)},
                 style);
}

std::string proof_table_foot(const std::vector<Certificate>& certificates,
                             const TableStyle& style) {
  Sheet sheet(style, kFootTitle);
  std::map<std::string, std::vector<std::string>> untried;
  for (const Certificate& certificate : certificates) {
    const std::string& name = certificate.implementation.name;
    for (const Invariance& line : certificate.invariances) {
      if (line.held == Held::kDiffer) sheet.paragraph(name, line.name + ": " + place_text(line));
      if (line.held == Held::kNotTried)
        untried[fmt::format("{} not tried: {}", line.name, printable(line.why))].push_back(name);
    }
    if (const std::string larger = larger_errors(certificate); !larger.empty())
      sheet.paragraph(name, printable(larger));
    const prove::Manners& manners = certificate.manners;
    if (manners.guard_pages == Held::kDiffer)
      sheet.paragraph(name, "guard pages: " + printable(manners.guard_pages_why));
    if (!manners.wrote_outside.empty()) sheet.paragraph(name, printable(manners.wrote_outside));
    if (!certificate.failure.empty())
      sheet.paragraph(name, printable(certificate.failure), Colour::kRed);
  }
  for (const auto& [why, names] : untried)
    sheet.paragraph("", fmt::format("{} ({})", why, fmt::join(names, ", ")), Colour::kDim);
  return sheet.text();
}

std::string proof_page(const Certificate& certificate, const TableStyle& style) {
  Sheet sheet(style, kPageTitle);
  const std::string against =
      certificate.incumbent.empty() ? "" : " against " + printable(certificate.incumbent_title);
  sheet.heading(printable(certificate.implementation.title) + against + ": " +
                problem_text(certificate) + fmt::format(", seed {}", certificate.seed));
  if (certificate.model) sheet.paragraph("weights", origin_text(*certificate.model));
  sheet.paragraph("ran", printable(kernels_text(certificate)));
  for (const Invariance& line : certificate.invariances) {
    const Cell cell = cell_of(line.held);
    std::string text = cell.text;
    if (line.held == Held::kDiffer) text += ": " + place_text(line);
    if (!line.why.empty()) text += fmt::format(" ({})", printable(line.why));
    sheet.paragraph(line.name, text, cell.colour);
  }
  add_classes(certificate, sheet);
  add_manners(certificate, sheet);
  if (!certificate.failure.empty())
    sheet.paragraph("failed", printable(certificate.failure), Colour::kRed);
  sheet.paragraph("proves", served_text(certificate));
  return sheet.text();
}

}  // namespace tare::report
