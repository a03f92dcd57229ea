// A page of short paragraphs, each with a title at its left, wrapped to a terminal.
#pragma once

#include <string>
#include <string_view>

#include "report/columns.h"
#include "report/table.h"

namespace tare::report {

class Sheet {
 public:
  // `title_width`: columns that titles take; a longer one pushes its text.
  explicit Sheet(const TableStyle& style, std::size_t title_width = 10)
      : style_(style), title_width_(title_width) {}

  // A line over the whole width.
  void heading(std::string_view text, Colour colour = Colour::kBold);
  // A paragraph with a title. Texts must be printable (text.h); spaces are not kept.
  void paragraph(std::string_view title, std::string_view text, Colour colour = Colour::kNone);
  // One of several things below a title, which the first of them may carry; its own lines after
  // the first are indented further.
  void item(std::string_view title, std::string_view text, Colour colour = Colour::kNone);

  const std::string& text() const { return text_; }

 private:
  void add(std::string_view title, std::string_view text, std::size_t hanging, Colour colour);

  TableStyle style_;
  std::size_t title_width_;
  std::string text_;
};

}  // namespace tare::report
