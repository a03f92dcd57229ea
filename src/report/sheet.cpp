#include "report/sheet.h"

#include "report/text.h"

namespace tare::report {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kHanging = 2;  // of the lines of an item after its first

}  // namespace

void Sheet::heading(std::string_view text, Colour colour) {
  text_ += painted(std::string(text), colour, style_) + '\n';
}

void Sheet::paragraph(std::string_view title, std::string_view text, Colour colour) {
  add(title, text, 0, colour);
}

void Sheet::item(std::string_view title, std::string_view text, Colour colour) {
  add(title, text, kHanging, colour);
}

void Sheet::add(std::string_view title, std::string_view text, std::size_t hanging, Colour colour) {
  bool first = true;
  for (const std::string& line : wrapped(text, kWidth - title_width_ - hanging)) {
    const std::string_view beside = first ? title : "";
    const std::size_t used = display_width(beside);
    const std::size_t gap = used < title_width_ ? title_width_ - used : 1;
    text_ += painted(std::string(beside), Colour::kBold, style_);
    text_ += std::string(gap + (first ? 0 : hanging), ' ');
    text_ += painted(line, colour, style_) + '\n';
    first = false;
  }
}

}  // namespace tare::report
