#include "report/budget.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "arms/roster.h"
#include "formats/weight_format.h"
#include "report/serving.h"
#include "report/together.h"

namespace tare::report {
namespace {

double time_of(const Row& row, weigh::Role role) {
  const auto fit = row.judgement.fits.find(role);
  const double seconds = fit == row.judgement.fits.end() ? 0 : fit->second.per_dispatch;
  const bool believed = row.judgement.verdict != judge::Verdict::kRefused;
  return believed && seconds > 0 && std::isfinite(seconds) ? seconds : 0;
}

std::uint32_t type_of(const problem::Projection& projection, const Row* row) {
  if (row != nullptr) return row->weighing.problem.weights;
  return projection.weighed.empty() ? std::uint32_t{TARE_BF16}
                                    : formats::type_number(projection.weighed);
}

BudgetLine line_of(const problem::Projection& projection, const Row* row, bool stands) {
  BudgetLine line;
  line.projection = &projection;
  line.row = row;
  line.bytes =
      formats::weight_bytes(type_of(projection, row), projection.k, projection.n, projection.bias);
  if (row == nullptr) return line;
  line.seconds = time_of(*row, weigh::Role::kIncumbent);
  if (!(line.seconds > 0)) return line;
  line.limit_seconds = row->judgement.limit_seconds;
  if (stands) line.decision = row->judgement.decision;
  if (line.decision == judge::Decision::kKeep) return line;
  line.saved = line.seconds * saved_share(row->judgement.ratio);
  line.saved_interval = {line.seconds * saved_share(row->judgement.interval.low),
                         line.seconds * saved_share(row->judgement.interval.high)};
  return line;
}

// Adds `count` times what another line holds of one; `gains`: also what it saves.
void add(BudgetLine& sum, const BudgetLine& one, double count, bool gains = true) {
  sum.bytes += count * one.bytes;
  sum.seconds += count * one.seconds;
  sum.limit_seconds += count * one.limit_seconds;
  if (!gains) return;
  sum.saved += count * one.saved;
  sum.saved_interval.low += count * one.saved_interval.low;
  sum.saved_interval.high += count * one.saved_interval.high;
}

BudgetLine times(const BudgetLine& one, std::string name, std::uint64_t count) {
  BudgetLine line{std::move(name), one.projection, one.row, count, 0, 0, 0, one.decision, 0, {}};
  add(line, one, static_cast<double>(count));
  return line;
}

// Files of before do not say how many matrices each of the joined names has: one line for all.
void add_lines(Budget& budget, const BudgetLine& one) {
  const problem::Projection& projection = *one.projection;
  const std::vector<std::string> names = problem::names_in(projection);
  if (projection.counts.size() != names.size()) {
    budget.lines.push_back(times(one, projection.name, projection.count));
    return;
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    budget.lines.push_back(times(one, names[i], projection.counts[i]));
}

// One arm against itself by parts.
bool is_fusing(const Row& row) {
  const weigh::Arm* incumbent = weigh::arm_of(row.weighing, weigh::Role::kIncumbent);
  const weigh::Arm* candidate = weigh::arm_of(row.weighing, weigh::Role::kCandidate);
  return incumbent != nullptr && candidate != nullptr &&
         incumbent->name == candidate->name + std::string(arms::kByPartsSuffix);
}

bool is_chain_of(const Row& row, const problem::Model& model, std::uint32_t rows) {
  return !row.weighing.chain.empty() && row.model == model.name &&
         row.weighing.problem.rows == rows;
}

Budget budget_of(const Results& results, const std::vector<bool>& stands,
                 const problem::Model& model, std::uint32_t rows) {
  Budget budget;
  budget.model = &model;
  budget.rows = rows;
  for (const problem::Projection& projection : model.projections) {
    const auto found = std::ranges::find_if(results.rows, [&](const Row& row) {
      return row.weighing.problem.rows == rows && is_row_of(row, model, projection);
    });
    const bool there = found != results.rows.end();
    const auto index = static_cast<std::size_t>(found - results.rows.begin());
    add_lines(budget, line_of(projection, there ? &*found : nullptr, there && stands[index]));
  }
  std::ranges::stable_sort(budget.lines, {},
                           [](const BudgetLine& line) { return problem::place_of(line.name); });
  for (const BudgetLine& line : budget.lines) {
    if (!(line.seconds > 0)) continue;
    add(budget.sum, line, 1, line.decision == judge::Decision::kServe);
    add(budget.with_trades, line, 1);
    budget.sum.count += line.count;
  }
  for (const Row& row : results.rows)
    if (is_chain_of(row, model, rows)) (is_fusing(row) ? budget.fusing : budget.chain) = &row;
  return budget;
}

}  // namespace

std::vector<Budget> budgets_of(const Results& results) {
  const std::vector<bool> stands = wins_that_stand(results);
  std::vector<Budget> budgets;
  for (const problem::Model& model : results.header.models) {
    std::set<std::uint32_t> counts;
    for (const Row& row : results.rows)
      if (row.model == model.name) counts.insert(row.weighing.problem.rows);
    for (const std::uint32_t rows : counts)
      budgets.push_back(budget_of(results, stands, model, rows));
  }
  return budgets;
}

ChainSum sum_of_parts(const Row& chain, const std::vector<Row>& rows) {
  ChainSum sum;
  for (const weigh::ChainPart& part : chain.weighing.chain) {
    const auto key = [](const tare_problem& p) {
      return std::tie(p.k, p.n, p.rows, p.weights, p.activations, p.bias);
    };
    const auto row = std::ranges::find_if(rows, [&](const Row& other) {
      return other.weighing.chain.empty() && other.model == chain.model &&
             other.weighing.parts == part.parts && key(other.weighing.problem) == key(part.problem);
    });
    if (row == rows.end()) return {};
    const double incumbent = time_of(*row, weigh::Role::kIncumbent);
    const double candidate = time_of(*row, weigh::Role::kCandidate);
    if (!(incumbent > 0) || !(candidate > 0)) return {};
    sum.incumbent += static_cast<double>(part.count) * incumbent;
    sum.candidate += static_cast<double>(part.count) * candidate;
  }
  return sum;
}

}  // namespace tare::report
