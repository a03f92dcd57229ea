// What was proved, as a person reads it: a table with a line for each implementation, and a page
// for one of them. Each returns whole lines, '\n' included, and looks at its arguments only.
#pragma once

#include <string>
#include <vector>

#include "prove/certificate.h"
#include "report/table.h"

namespace tare::report {

// "1021×251, bf16 weights, rows 1 to 32", and the titles of the columns.
std::string proof_table_head(const prove::Certificate& any, const TableStyle& style);
std::string proof_table_row(const prove::Certificate& certificate, const TableStyle& style);
// Where each broken invariance was seen first, what failed, and why what was not tried was not.
std::string proof_table_foot(const std::vector<prove::Certificate>& certificates,
                             const TableStyle& style);

// Everything about one implementation.
std::string proof_page(const prove::Certificate& certificate, const TableStyle& style);

}  // namespace tare::report
