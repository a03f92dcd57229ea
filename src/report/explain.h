// One verdict in plain words, from the samples to the decision: tare replay FILE --explain ROW.
#pragma once

#include <cstddef>
#include <string>

#include "report/results.h"
#include "report/table.h"

namespace tare::report {

// Whole lines, '\n' included, printable, of at most 100 columns where words allow it. A function of
// its arguments alone. Takes as long as judging the row a few times.
std::string explanation(const Results& results, std::size_t row, const TableStyle& style);

}  // namespace tare::report
