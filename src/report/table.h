// The table a person reads. A run prints it line by line as rows finish; a replay prints the same
// bytes from a results file, so nothing here may look at the clock, the machine or the order of
// anything but its arguments.
#pragma once

#include <string>

#include "report/results.h"

namespace tare::report {

struct TableStyle {
  bool colour = false;  // ANSI colours: only on a terminal, and never with NO_COLOR
  bool all = false;     // the other incumbents of each row, too
};

// Each returns whole lines, '\n' included.
std::string table_head(const Header& header,
                       const TableStyle& style);  // machine line, column titles
std::string table_row(const Row& row, const Header& header, const TableStyle& style);
// Limits measured, share of a token's weights, what serving would give, refusals explained (each
// cause once), absent libraries, notes.
std::string table_foot(const Results& results, const TableStyle& style);

// 0: every row has a verdict; 1: a row was refused, or an arm failed.
int exit_code(const Results& results);

}  // namespace tare::report
