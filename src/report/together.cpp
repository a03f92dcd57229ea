#include "report/together.h"

#include <optional>

namespace tare::report {
namespace {

std::size_t rows_asked(const Header& header) {
  std::size_t projections = 0;
  for (const problem::Model& model : header.models) projections += model.projections.size();
  return projections * header.rows.size();
}

std::vector<bool> first_that_stand(const Results& results, std::size_t count) {
  std::vector<std::optional<double>> wins(count);
  for (std::size_t i = 0; i < count; ++i) {
    const judge::Judgement& judgement = results.rows[i].judgement;
    if (judgement.verdict == judge::Verdict::kWin) wins[i] = judgement.log_evidence;
  }
  return judge::stand_together(wins, rows_asked(results.header), kFalseShare);
}

}  // namespace

std::vector<bool> wins_that_stand(const Results& results) {
  return first_that_stand(results, results.rows.size());
}

bool stands_when_printed(const Results& results, std::size_t index) {
  return results.rows[index].judgement.verdict == judge::Verdict::kWin &&
         first_that_stand(results, index + 1)[index];
}

}  // namespace tare::report
