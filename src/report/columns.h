// The columns of the table: which there are and how wide, decided by the header of a run alone, so
// that rows can be printed as they finish.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/results.h"
#include "report/table.h"

namespace tare::report {

enum class Column {
  kModel,
  kProjection,
  kShape,
  kRows,
  kIncumbent,
  kGbps,
  kBound,
  kGap,
  kRatio,
  kNaive,
  kInterval,
  kBits,
  kVerdict,
  kDecision
};

struct ColumnLayout {
  Column column;
  std::string title;
  std::size_t width;
  bool right = false;  // numbers stand right
};

std::vector<ColumnLayout> layout(const Header& header, const TableStyle& style);

// A model's, a projection's or a library's name as it stands in a cell; a long one is clipped: a
// table that wraps cannot be read.
std::string name_text(std::string_view name);

// "1536×256": k × n.
std::string shape_text(std::uint64_t k, std::uint64_t n);

// Of a row: its shape, or "197 matrices" of a chain.
std::string shape_text(const weigh::Weighing& weighing);

// "1 row", "8 rows".
std::string rows_text(std::uint64_t count);

// "Qwen2.5-1.5B q/o 1536×1536, 8 rows": how a sentence names a row.
std::string row_name(const Row& row);
// Its name, with the type of its weights where that is not bf16, and that it has a bias: "down
// q4_k", "q +b".
std::string projection_text(const Row& row);

enum class Colour { kNone, kBold, kDim, kGreen, kRed, kYellow };

struct Cell {
  std::string text;
  Colour colour = Colour::kNone;
};

// "[0.987, 1.234]"; "-" when it is not known.
std::string interval_text(const judge::Interval& interval);

// "win", "refused(overhead)".
Cell verdict_cell(const judge::Judgement& judgement);

// One line of cells, at most one a column, '\n' included, without spaces at its end. A cell that is
// too long pushes what follows.
std::string line_of(const std::vector<ColumnLayout>& columns, const std::vector<Cell>& cells,
                    const TableStyle& style);

std::string painted(const std::string& text, Colour colour, const TableStyle& style);

}  // namespace tare::report
