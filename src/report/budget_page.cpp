// The page of a budget.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/weight_format.h"
#include "judge/words.h"
#include "report/budget.h"
#include "report/columns.h"
#include "report/details.h"
#include "report/text.h"

namespace tare::report {
namespace {

using Cells = std::vector<Cell>;

struct Title {
  const char* text;
  bool right;
};
constexpr Title kTitles[] = {{"projection", false}, {"k×n", false},    {"type", false},
                             {"count", true},       {"weights", true}, {"share", true},
                             {"incumbent", false},  {"a token", true}, {"share", true},
                             {"limit", true},       {"ratio", true},   {"decision", false},
                             {"token gains", false}};

std::string share_text(double part, double whole) {
  if (!(part > 0) || !(whole > 0)) return "-";
  return fmt::format("{:.1f} %", 100 * part / whole);
}

std::string seconds_text(double seconds) {
  return seconds > 0 ? judge::duration(seconds) : "-";
}

// "3.10 % [2.80, 3.40]" of the token's projections.
std::string gain_text(const BudgetLine& line, double whole) {
  if (line.saved == 0 || !(whole > 0)) return "";
  const auto share = [&](double seconds) { return 100 * seconds / whole; };
  return fmt::format("{:.2f} % [{:.2f}, {:.2f}]", share(line.saved), share(line.saved_interval.low),
                     share(line.saved_interval.high));
}

// What would be gained, and is not, stands in brackets.
std::string gain_text_of_line(const BudgetLine& line, double whole) {
  const std::string text = gain_text(line, whole);
  return text.empty() || line.decision == judge::Decision::kServe ? text : '(' + text + ')';
}

std::string incumbent_of(const BudgetLine& line) {
  const weigh::Arm* arm =
      line.row == nullptr ? nullptr : weigh::arm_of(line.row->weighing, weigh::Role::kIncumbent);
  return arm == nullptr ? "-" : name_text(arm->title);
}

std::string type_of(const BudgetLine& line) {
  const std::uint32_t type = line.row == nullptr ? formats::type_number(line.projection->weighed)
                                                 : line.row->weighing.problem.weights;
  return std::string(formats::type_name(type));
}

// What becomes of it; a row that was refused says so.
Cell decision_of(const BudgetLine& line) {
  if (line.row == nullptr) return {"not weighed", Colour::kYellow};
  if (line.row->judgement.verdict == judge::Verdict::kRefused)
    return verdict_cell(line.row->judgement);
  if (line.decision == judge::Decision::kServe) return {"serve", Colour::kGreen};
  const bool stands = line.decision == line.row->judgement.decision;
  return {stands ? judge::to_string(line.decision) : "alone"};
}

Cells cells_of(const BudgetLine& line, const Budget& budget, double all_bytes) {
  return {{name_text(line.name)},
          {shape_text(line.projection->k, line.projection->n)},
          {type_of(line)},
          {std::to_string(line.count)},
          {judge::bytes(line.bytes)},
          {share_text(line.bytes, all_bytes)},
          {incumbent_of(line)},
          {seconds_text(line.seconds)},
          {share_text(line.seconds, budget.sum.seconds)},
          {seconds_text(line.limit_seconds)},
          {line.row == nullptr ? "-" : ratio_text(line.row->judgement.ratio)},
          decision_of(line),
          {gain_text_of_line(line, budget.sum.seconds)}};
}

Cells cells_of_sum(const Budget& budget, double all_bytes) {
  const BudgetLine& sum = budget.sum;
  const double ratio = sum.seconds > sum.saved ? sum.seconds / (sum.seconds - sum.saved) : 0;
  return {{"sum", Colour::kBold},
          {},
          {},
          {std::to_string(sum.count)},
          {judge::bytes(sum.bytes)},
          {share_text(sum.bytes, all_bytes)},
          {"each row's"},
          {seconds_text(sum.seconds)},
          {share_text(sum.seconds, sum.seconds)},
          {seconds_text(sum.limit_seconds)},
          {ratio_text(ratio)},
          {sum.saved != 0 ? "serve" : "none to serve"},
          {gain_text(sum, sum.seconds)}};
}

std::string table_of(const std::vector<Cells>& lines, const TableStyle& style) {
  std::vector<ColumnLayout> columns;
  for (std::size_t i = 0; i < std::size(kTitles); ++i) {
    std::size_t width = 0;
    for (const Cells& line : lines) width = std::max(width, display_width(line[i].text));
    columns.push_back({Column::kModel, kTitles[i].text, width, kTitles[i].right});
  }
  std::string text;
  for (const Cells& line : lines) text += line_of(columns, line, style);
  return text;
}

// Of all that a token reads; of what is listed, where the header does not say it.
double bytes_of_token(const Budget& budget) {
  double listed = 0;
  for (const BudgetLine& line : budget.lines) listed += line.bytes;
  return std::max(listed, budget.model->bytes_per_token);
}

std::string rest_line(const Budget& budget, double all_bytes) {
  const double rest = all_bytes - budget.sum.bytes;
  if (rest < 0.0005 * all_bytes) return {};
  return fmt::format(
      "{} of the weights that a token reads have no time here (left out by a filter, refused, or "
      "not weighed): they are in no time and no gain above.\n",
      share_text(rest, all_bytes));
}

std::string trade_line(const Budget& budget, judge::Equality asked) {
  if (budget.with_trades.saved == budget.sum.saved) return {};
  return fmt::format("With the rows marked trade (faster, but {}) the sum would lose {}.\n",
                     broken_equality_text(asked),
                     gain_text(budget.with_trades, budget.sum.seconds));
}

std::string title_of(const Row& row, weigh::Role role) {
  const weigh::Arm* arm = weigh::arm_of(row.weighing, role);
  return arm == nullptr ? "-" : name_text(arm->title);
}

double time_of(const Row& row, weigh::Role role) {
  const auto fit = row.judgement.fits.find(role);
  return fit == row.judgement.fits.end() ? 0 : fit->second.per_dispatch;
}

std::string sum_sentence(const Row& chain, const std::vector<Row>& rows) {
  const ChainSum sum = sum_of_parts(chain, rows);
  if (!(sum.candidate > 0)) return " Its rows are not all believed: there is no sum beside it.";
  return fmt::format(
      " The rows above, added up for the same matrices, each by the fastest of its row: {} and {}, "
      "{}.",
      judge::duration(sum.incumbent), judge::duration(sum.candidate),
      ratio_text(sum.incumbent / sum.candidate));
}

// "..., 197 dispatches in order, ...: oneDNN takes 95 ms, Tare panel 77 ms: 1.23x [1.21, 1.25],
// win."
std::string chain_text(const Row& chain) {
  const judge::Judgement& judgement = chain.judgement;
  std::string text = fmt::format(
      "Measured, {} ({:.0f} dispatches in order, each over weights of its own, {}): {} takes {}, "
      "{} {}: {} {}, {}.",
      name_text(chain.projection), weigh::links(chain.weighing),
      judge::bytes(weigh::weight_bytes(chain.weighing)), title_of(chain, weigh::Role::kIncumbent),
      judge::duration(time_of(chain, weigh::Role::kIncumbent)),
      title_of(chain, weigh::Role::kCandidate),
      judge::duration(time_of(chain, weigh::Role::kCandidate)), ratio_text(judgement.ratio),
      interval_text(judgement.interval), verdict_cell(judgement).text);
  if (judgement.limit_seconds > 0)
    text +=
        fmt::format(" The limit of the same chain: {} ({}).",
                    judge::duration(judgement.limit_seconds), judge::to_string(judgement.bound));
  return text;
}

std::string refusal_line(const Row& chain) {
  if (chain.judgement.verdict != judge::Verdict::kRefused) return {};
  return fmt::format("  {}\n", printable(chain.judgement.cause_sentence));
}

// A chain of a part of the layers, scaled to all by the bytes of weights: not measured.
std::string scaled_text(const Budget& budget, const Row& chain) {
  double whole = 0;
  for (const BudgetLine& line : budget.lines) whole += line.bytes;
  const double part = weigh::weight_bytes(chain.weighing);
  const double incumbent = time_of(chain, weigh::Role::kIncumbent);
  if (!(whole > 1.0005 * part) || !(incumbent > 0)) return {};
  return fmt::format(
      " At the same rates all {} would take {} and {} (scaled by bytes, not measured).",
      judge::bytes(whole), judge::duration(incumbent * whole / part),
      judge::duration(time_of(chain, weigh::Role::kCandidate) * whole / part));
}

std::string chain_line(const Budget& budget, const std::vector<Row>& rows) {
  if (budget.chain == nullptr) return "Chain: not measured.\n";
  const Row& chain = *budget.chain;
  if (chain.weighing.failure) return fmt::format("Chain: {}\n", printable(*chain.weighing.failure));
  return chain_text(chain) + scaled_text(budget, chain) + sum_sentence(chain, rows) + '\n' +
         refusal_line(chain);
}

// What fusing alone gives: the same kernel, the same bytes.
std::string fusing_line(const Budget& budget) {
  if (budget.fusing == nullptr) return {};
  const Row& row = *budget.fusing;
  if (row.weighing.failure)
    return fmt::format("Fused against apart: {}\n", printable(*row.weighing.failure));
  return chain_text(row) + '\n' + refusal_line(row);
}

std::string text_of(const Budget& budget, const Results& results, const TableStyle& style) {
  const double all_bytes = bytes_of_token(budget);
  std::vector<Cells> lines(1);
  for (const Title& title : kTitles) lines[0].push_back({title.text, Colour::kBold});
  for (const BudgetLine& line : budget.lines) lines.push_back(cells_of(line, budget, all_bytes));
  lines.push_back(cells_of_sum(budget, all_bytes));
  return fmt::format("\n{}, {} a step: {} of weights a token\n", name_text(budget.model->name),
                     rows_text(budget.rows), judge::bytes(all_bytes)) +
         table_of(lines, style) + trade_line(budget, results.header.rules.equality) +
         rest_line(budget, all_bytes) + chain_line(budget, results.rows) + fusing_line(budget);
}

std::string complaints_of_rows(const Results& results) {
  std::string lines;
  for (const Row& row : results.rows)
    if (row.weighing.failure && row.weighing.chain.empty())
      lines += fmt::format("{} failed: {}\n", row_name(row), printable(*row.weighing.failure));
  return lines;
}

std::string end_line(const Results& results) {
  if (!results.footer) return "The run was cut short.\n";
  return fmt::format("{}{} in {:.0f} s.\n", results.footer->interrupted ? "Interrupted: " : "",
                     rows_text(results.rows.size()), results.footer->seconds);
}

}  // namespace

std::string budget_text(const Results& results, const TableStyle& style) {
  std::string text = run_line(results.header);
  for (const Budget& budget : budgets_of(results)) text += text_of(budget, results, style);
  return text + '\n' + complaints_of_rows(results) +
         "a token: count times the incumbent's time of one dispatch; limit: the same at this "
         "machine's limit; gains: of the sum, with the edges of the rows' intervals added up.\n"
         "Left out: attention over the cache of keys and values, norms, rotary embedding, "
         "activation functions, sampling, and what an engine does between dispatches. In the chain "
         "every x lies ready: no dispatch waits for arithmetic that is no projection.\n" +
         end_line(results);
}

}  // namespace tare::report
