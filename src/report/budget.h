// Where the weights and the time of a decode token go: every projection of a model at one row
// count, with what serving it would give the token, and the whole of them measured as one chain.
//
// Times are of the rows of a results file: count times the incumbent's time of one dispatch, at the
// residency of the run. A sum of them; what it leaves out is said below the table. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/results.h"
#include "report/table.h"

namespace tare::report {

// One projection by name: the q of all layers.
struct BudgetLine {
  std::string name;
  const problem::Projection* projection = nullptr;  // that it is (a part) of
  const Row* row = nullptr;                         // null: not weighed, or not believed
  std::uint64_t count = 0;                          // matrices
  double bytes = 0;                                 // of weights, all of them
  double seconds = 0;                               // the incumbent's, all of them; 0: not known
  double limit_seconds = 0;
  // Its win stands among all rows: to be served, or to be traded.
  judge::Decision decision = judge::Decision::kKeep;
  // Seconds that its candidate saves a token; from the edges of the row's interval. Of kKeep: 0.
  double saved = 0;
  judge::Interval saved_interval;
};

struct Budget {
  const problem::Model* model = nullptr;
  std::uint32_t rows = 0;
  std::vector<BudgetLine> lines;  // in the order in which a token meets them
  // Of the lines whose time is known; names are empty. `sum` saves what serving saves, and
  // `with_trades` what serving and trading saves.
  BudgetLine sum, with_trades;
  const Row* chain = nullptr;  // null: not measured
  // The candidate's chain against the same with fused projections by parts; null: not measured.
  const Row* fusing = nullptr;
};

// One for every model and row count that has a row. Points into `results`.
std::vector<Budget> budgets_of(const Results& results);

// What the rows of its parts say of a chain, added up: seconds of the incumbents, each the fastest
// of its row, and of the candidates. Zeros where a part has no believed row.
struct ChainSum {
  double incumbent = 0;
  double candidate = 0;
};
ChainSum sum_of_parts(const Row& chain, const std::vector<Row>& rows);

// The whole page; lines of 100 columns and more where the table takes them.
std::string budget_text(const Results& results, const TableStyle& style);

}  // namespace tare::report
