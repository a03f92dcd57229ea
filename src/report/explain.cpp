#include "report/explain.h"

#include <fmt/format.h>

#include "report/explain_sections.h"
#include "report/together.h"

namespace tare::report {
std::string explanation(const Results& results, std::size_t index, const TableStyle& style) {
  const Row& row = results.rows.at(index);
  Sheet sheet(style);
  sheet.heading(fmt::format("Row {} of {}: {}", index + 1, results.rows.size(), row_name(row)));
  sections::asked(row, results.header.rules, sheet);
  sections::screened(row, sheet);
  sections::prepared(row, sheet);
  sections::proved(row, results.header.rules, sheet);
  sections::samples(row, sheet);
  sections::times(row, sheet);
  sections::ratios(row, sheet);
  sections::naive(row, sheet);
  sections::certainty(row, results.header.rules, sheet);
  sections::gates(row, sheet);
  sections::verdict(row, results.header.rules, wins_that_stand(results)[index], sheet);
  return sheet.text();
}

}  // namespace tare::report
