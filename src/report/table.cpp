#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "judge/verdict.h"
#include "judge/words.h"
#include "report/columns.h"
#include "report/details.h"
#include "report/encode.h"
#include "report/text.h"
#include "report/together.h"

namespace tare::report {
namespace {

std::string weights_text(const Header& header) {
  if (header.residency == weigh::Residency::kHot) return "weights hot (one slot a region)";
  return fmt::format("weights cold (ring {})",
                     judge::bytes(static_cast<double>(header.ring_bytes)));
}

// Rows of other weights name their type.
std::string precision_text(const Header& header) {
  for (const problem::Model& model : header.models)
    for (const problem::Projection& projection : model.projections)
      if (!projection.stored.empty() && projection.stored != "BF16")
        return "weights as each row says";
  return "bf16";
}

std::string machine_line(const Header& header) {
  const std::string where =
      header.accelerator ? device::summary(*header.accelerator) : device::summary(header.machine);
  std::string line =
      fmt::format("{} · {} · {} · {} of weights a region", printable(where), precision_text(header),
                  weights_text(header), judge::bytes(header.traffic));
  if (header.mode == weigh::Mode::kPerCall) line += " · per call: preparing is in the region";
  if (header.rules.equality != judge::Equality::kIncumbent)
    line += fmt::format(" · equality asked: {}", judge::to_string(header.rules.equality));
  return line + '\n';
}

std::string note_lines(const Header& header) {
  std::string lines;
  for (const problem::Model& model : header.models) {
    for (const std::string& note : model.notes) {
      lines += fmt::format("{}: {}\n", name_text(model.name), printable(note));
    }
  }
  return lines;
}

std::string incumbent_text(const Row& row) {
  const weigh::Arm* incumbent = weigh::arm_of(row.weighing, weigh::Role::kIncumbent);
  if (incumbent == nullptr) return "-";
  return name_text(incumbent->title) + (weakness(*incumbent).empty() ? "" : "*");
}

std::string gbps_text(double gbps) {
  if (!(gbps > 0) || !std::isfinite(gbps)) return "-";
  return fmt::format("{:.1f}", gbps);
}

std::string gap_text(double gap) {
  if (!(gap > 0) || !std::isfinite(gap)) return "-";
  return gap < 99.995 ? fmt::format("{:.2f}x", gap) : fmt::format("{:.0f}x", gap);
}

// Of the equality that was asked for: the incumbent's bits, or what the column's title names.
std::string equality_text(const Row& row, judge::Equality asked) {
  const judge::Bits equality = asked == judge::Equality::kIncumbent
                                   ? row.judgement.bits
                                   : judge::equality_of(row.weighing.proof, asked);
  if (equality == judge::Bits::kUnknown) return "-";
  if (asked == judge::Equality::kIncumbent) return judge::to_string(equality);
  return equality == judge::Bits::kEqual ? "holds" : "broken";
}

Cell decision_cell(judge::Decision decision, bool stands) {
  if (decision != judge::Decision::kKeep && !stands) return {"alone", Colour::kYellow};
  const Colour colour = decision == judge::Decision::kServe ? Colour::kGreen : Colour::kNone;
  return {judge::to_string(decision), colour};
}

// What a line is made of: the row, and what the table says of it.
struct Line {
  const Row& row;
  judge::Equality asked;
  bool stands;  // its win, among the rows up to it
};

Cell cell_of(Column column, const Line& line) {
  const Row& row = line.row;
  const judge::Judgement& judgement = row.judgement;
  const tare_problem& problem = row.weighing.problem;
  switch (column) {
    case Column::kModel:
      return {name_text(row.model)};
    case Column::kProjection:
      return {projection_text(row)};
    case Column::kShape:
      return {shape_text(row.weighing)};
    case Column::kRows:
      return {std::to_string(problem.rows)};
    case Column::kIncumbent:
      return {incumbent_text(row)};
    case Column::kGbps:
      return {gbps_text(judgement.incumbent_gbps)};
    case Column::kBound:
      return {judgement.limit_seconds > 0 ? judge::to_string(judgement.bound) : "-"};
    case Column::kGap:
      return {gap_text(judgement.gap)};
    case Column::kRatio:
      return {ratio_text(judgement.ratio)};
    case Column::kNaive:
      return {ratio_text(judgement.naive_ratio)};
    case Column::kInterval:
      return {interval_text(judgement.interval)};
    case Column::kBits:
      return {equality_text(row, line.asked)};
    case Column::kVerdict:
      return verdict_cell(judgement);
    case Column::kDecision:
      return decision_cell(judgement.decision, line.stands);
  }
  return {};
}

bool is_refused(const Row& row) {
  return row.judgement.verdict == judge::Verdict::kRefused;
}

}  // namespace

std::string run_line(const Header& header) {
  return machine_line(header) + note_lines(header);
}

std::string table_head(const Header& header, const TableStyle& style) {
  const std::vector<ColumnLayout> columns = layout(header, style);
  std::vector<Cell> titles;
  titles.reserve(columns.size());
  for (const ColumnLayout& column : columns) titles.push_back({column.title, Colour::kBold});
  return run_line(header) + line_of(columns, titles, style);
}

std::string table_row(const Results& results, std::size_t index, const TableStyle& style) {
  const Header& header = results.header;
  const Row& row = results.rows.at(index);
  const Line line{row, header.rules.equality, stands_when_printed(results, index)};
  const std::vector<ColumnLayout> columns = layout(header, style);
  std::vector<Cell> cells;
  cells.reserve(columns.size());
  for (const ColumnLayout& column : columns) cells.push_back(cell_of(column.column, line));
  return line_of(columns, cells, style) + row_details(row, header, style);
}

int exit_code(const Results& results) {
  const bool is_whole =
      results.footer && !results.footer->interrupted && results.complaints.empty();
  const bool all_judged = std::ranges::none_of(results.rows, is_refused);
  return is_whole && all_judged ? 0 : 1;
}

}  // namespace tare::report
