#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "judge/words.h"
#include "report/columns.h"
#include "report/details.h"
#include "report/encode.h"
#include "report/text.h"

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
  return name_text(incumbent->title) + (is_weak(*incumbent) ? "*" : "");
}

std::string gbps_text(double gbps) {
  if (!(gbps > 0) || !std::isfinite(gbps)) return "-";
  return fmt::format("{:.1f}", gbps);
}

std::string gap_text(double gap) {
  if (!(gap > 0) || !std::isfinite(gap)) return "-";
  return gap < 99.995 ? fmt::format("{:.2f}x", gap) : fmt::format("{:.0f}x", gap);
}

std::string bits_text(judge::Bits bits) {
  return bits == judge::Bits::kUnknown ? "-" : judge::to_string(bits);
}

Cell decision_cell(judge::Decision decision) {
  const Colour colour = decision == judge::Decision::kServe ? Colour::kGreen : Colour::kNone;
  return {judge::to_string(decision), colour};
}

Cell cell_of(Column column, const Row& row) {
  const judge::Judgement& judgement = row.judgement;
  const tare_problem& problem = row.weighing.problem;
  switch (column) {
    case Column::kModel:
      return {name_text(row.model)};
    case Column::kProjection:
      return {projection_text(row)};
    case Column::kShape:
      return {shape_text(problem.k, problem.n)};
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
      return {bits_text(judgement.bits)};
    case Column::kVerdict:
      return verdict_cell(judgement);
    case Column::kDecision:
      return decision_cell(judgement.decision);
  }
  return {};
}

bool is_refused(const Row& row) {
  return row.judgement.verdict == judge::Verdict::kRefused;
}

}  // namespace

std::string table_head(const Header& header, const TableStyle& style) {
  const std::vector<ColumnLayout> columns = layout(header, style);
  std::vector<Cell> titles;
  titles.reserve(columns.size());
  for (const ColumnLayout& column : columns) titles.push_back({column.title, Colour::kBold});
  return machine_line(header) + note_lines(header) + line_of(columns, titles, style);
}

std::string table_row(const Row& row, const Header& header, const TableStyle& style) {
  const std::vector<ColumnLayout> columns = layout(header, style);
  std::vector<Cell> cells;
  cells.reserve(columns.size());
  for (const ColumnLayout& column : columns) cells.push_back(cell_of(column.column, row));
  return line_of(columns, cells, style) + row_details(row, header, style);
}

int exit_code(const Results& results) {
  const bool is_whole =
      results.footer && !results.footer->interrupted && results.complaints.empty();
  const bool all_judged = std::ranges::none_of(results.rows, is_refused);
  return is_whole && all_judged ? 0 : 1;
}

}  // namespace tare::report
