#include "report/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "formats/weight_format.h"
#include "report/text.h"

namespace tare::report {
namespace {

std::size_t name_width(std::string_view name) {
  return display_width(name_text(name));
}

std::size_t model_width(const Header& header, std::size_t least) {
  for (const problem::Model& model : header.models) least = std::max(least, name_width(model.name));
  return least;
}

std::size_t projection_width(const Header& header, std::size_t least) {
  for (const problem::Model& model : header.models) {
    for (const problem::Projection& projection : model.projections) {
      const std::size_t type = projection.stored.empty() ? 0 : 1 + display_width(projection.stored);
      least = std::max(least, name_width(projection.name) + type);
    }
  }
  return least;
}

std::size_t shape_width(const Header& header, std::size_t least) {
  for (const problem::Model& model : header.models) {
    for (const problem::Projection& projection : model.projections) {
      least = std::max(least, display_width(shape_text(projection.k, projection.n)));
    }
  }
  return least;
}

// With room for the mark of a weak incumbent.
std::size_t incumbent_width(const Header& header, std::size_t least) {
  for (const Library& library : header.libraries) {
    if (library.found && !library.candidate && !library.limit) {
      least = std::max(least, name_width(library.title) + 1);
    }
  }
  return least;
}

const char* escape_of(Colour colour) {
  switch (colour) {
    case Colour::kBold:
      return "\x1b[1m";
    case Colour::kDim:
      return "\x1b[2m";
    case Colour::kGreen:
      return "\x1b[32m";
    case Colour::kRed:
      return "\x1b[31m";
    case Colour::kYellow:
      return "\x1b[33m";
    case Colour::kNone:
      break;
  }
  return "";
}

}  // namespace

std::string name_text(std::string_view name) {
  constexpr std::size_t kLongest = 32;
  return clipped(printable(name), kLongest);
}

std::string shape_text(std::uint64_t k, std::uint64_t n) {
  return fmt::format("{}×{}", k, n);
}

std::string shape_text(const weigh::Weighing& weighing) {
  if (weighing.chain.empty()) return shape_text(weighing.problem.k, weighing.problem.n);
  return fmt::format("{:.0f} matrices", weigh::links(weighing));
}

std::string rows_text(std::uint64_t count) {
  return fmt::format("{} row{}", count, count == 1 ? "" : "s");
}

std::string projection_text(const Row& row) {
  const std::uint32_t weights = row.weighing.problem.weights;
  const std::string_view type = formats::type_name(weights);
  std::string text = name_text(row.projection);
  if (weights != TARE_BF16 && !type.empty() && row.weighing.chain.empty())
    text += fmt::format(" {}", type);
  if (row.weighing.problem.bias != 0 && row.weighing.chain.empty()) text += " +b";
  if (row.weighing.problem.activations == TARE_F32) text += ", x f32";
  return text;
}

std::string row_name(const Row& row) {
  return fmt::format("{} {} {}, {}", name_text(row.model), projection_text(row),
                     shape_text(row.weighing), rows_text(row.weighing.problem.rows));
}

std::string interval_text(const judge::Interval& interval) {
  const bool is_known = interval.high > 0 && std::isfinite(interval.high);
  if (!is_known) return "-";
  return fmt::format("[{:.3f}, {:.3f}]", interval.low, interval.high);
}

Cell verdict_cell(const judge::Judgement& judgement) {
  switch (judgement.verdict) {
    case judge::Verdict::kRefused:
      return {fmt::format("refused({})", printable(judgement.cause)), Colour::kYellow};
    case judge::Verdict::kWin:
      return {judge::to_string(judgement.verdict), Colour::kGreen};
    case judge::Verdict::kLoss:
      return {judge::to_string(judgement.verdict), Colour::kRed};
    case judge::Verdict::kEquivalent:
    case judge::Verdict::kInconclusive:
      break;
  }
  return {judge::to_string(judgement.verdict), Colour::kDim};
}

std::vector<ColumnLayout> layout(const Header& header, const TableStyle& style) {
  const std::string interval = fmt::format("{:g} % interval", 100 * (1 - header.rules.alpha));
  std::vector<ColumnLayout> columns{
      {Column::kModel, "model", model_width(header, 5)},
      {Column::kProjection, "projection", projection_width(header, 10)},
      {Column::kShape, "k×n", shape_width(header, 3)},
      {Column::kRows, "rows", 4, true},
      {Column::kIncumbent, "incumbent", incumbent_width(header, 9)},
      {Column::kGbps, "GB/s", 6, true},
      {Column::kBound, "bound", std::string_view("compute").size()},
      {Column::kGap, "gap", std::string_view("12.34x").size(), true},
      {Column::kRatio, "ratio", std::string_view("1.234x").size(), true},
      {Column::kNaive, "naive", std::string_view("1.234x").size(), true},
      {Column::kInterval, interval,
       std::max(interval.size(), std::string_view("[0.123, 1.234]").size())},
      {Column::kBits,
       header.rules.equality == judge::Equality::kIncumbent
           ? "bits"
           : judge::to_string(header.rules.equality),
       std::string_view("unknown").size()},
      {Column::kVerdict, "verdict", std::string_view("refused(overhead)").size()},
      {Column::kDecision, "decision", 0},
  };
  const bool shows_naive = style.all || header.traffic < 1e9;
  if (!shows_naive) {
    std::erase_if(columns, [](const ColumnLayout& c) { return c.column == Column::kNaive; });
  }
  return columns;
}

std::string painted(const std::string& text, Colour colour, const TableStyle& style) {
  if (!style.colour || colour == Colour::kNone || text.empty()) return text;
  return escape_of(colour) + text + "\x1b[0m";
}

std::string line_of(const std::vector<ColumnLayout>& columns, const std::vector<Cell>& cells,
                    const TableStyle& style) {
  std::string line;
  std::size_t owed = 0;  // spaces before the next text: none are left at the end of a line
  for (std::size_t index = 0; index < cells.size(); ++index) {
    const ColumnLayout& column = columns[index];
    const std::string& text = cells[index].text;
    const std::size_t used = display_width(text);
    const std::size_t rest = used < column.width ? column.width - used : 0;
    if (!text.empty()) {
      line += std::string(owed + (column.right ? rest : 0), ' ');
      line += painted(text, cells[index].colour, style);
      owed = column.right ? 0 : rest;
    } else {
      owed += rest;
    }
    owed += 2;
  }
  return line + '\n';
}

}  // namespace tare::report
