// The table a person reads. A run prints it line by line as rows finish; a replay prints the same
// bytes from a results file, so nothing here may look at the clock, the machine or the order of
// anything but its arguments.
#pragma once

#include <cstddef>
#include <string>

#include "report/results.h"

namespace tare::report {

struct TableStyle {
  bool colour = false;  // ANSI colours: only on a terminal, and never with NO_COLOR
  bool all = false;     // the other incumbents of each row, too
};

// Each returns whole lines, '\n' included. What came from elsewhere (names, sentences) is printed
// as valid UTF-8 without control characters. Thread-safe: they look at their arguments only.

// Where and how the run was, and notes of the models.
std::string run_line(const Header& header);
// The same, and column titles.
std::string table_head(const Header& header, const TableStyle& style);
// One line, and under it what belongs to this row alone: why it failed, the naive ratio of a row
// refused for overhead, with `all` the fits and the other incumbents. Rows behind `index` are not
// looked at: a run prints it before they are there. A win that does not stand among those up to it
// (together.h) is not said to be served; the foot says what became of it.
std::string table_row(const Results& results, std::size_t index, const TableStyle& style);
// Limits measured, share of a token's weights, what serving would give, marks and refusals
// explained (each cause once), wins that need a word, what is undecided, absent libraries, how it
// ended.
std::string table_foot(const Results& results, const TableStyle& style);

// 0: every row has a verdict; 1: a row was refused, an arm failed, or rows are missing
// (interrupted, no footer, complaints of the reader).
int exit_code(const Results& results);

}  // namespace tare::report
