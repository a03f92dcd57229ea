#include "report/together.h"

namespace tare::report {

std::vector<bool> wins_that_stand(const std::vector<Row>& rows) {
  std::vector<judge::Judgement> judgements;
  judgements.reserve(rows.size());
  for (const Row& row : rows) judgements.push_back(row.judgement);
  return judge::stand_together(judgements, kFalseShare);
}

}  // namespace tare::report
