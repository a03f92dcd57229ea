// Which row of a table a person means.
#pragma once

#include <cstddef>
#include <string>

#include "report/results.h"

namespace tare::report {

// Index of the row that `wanted` names: its number in the table from 1, or words that are all true
// of it and of no other row: model, projection ("q/o", or "q"), shape ("1536x1536"), row count, or
// shape and row count in one ("1536x1536x8"). Capitals do not count. Throws tare::Error (kInput)
// with a sentence that lists the rows when it names none or several.
std::size_t choose_row(const Results& results, const std::string& wanted);

}  // namespace tare::report
