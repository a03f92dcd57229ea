#include "report/text.h"

#include <utf8proc.h>

#include <algorithm>

namespace tare::report {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";

// One character at the front of `text`: its code point (negative when the byte is not UTF-8) and
// its length in bytes.
struct Character {
  utf8proc_int32_t code_point = -1;
  std::size_t bytes = 1;
};

Character front(std::string_view text) {
  Character character;
  const utf8proc_ssize_t length =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(text.size()), &character.code_point);
  if (length > 0) {
    character.bytes = static_cast<std::size_t>(length);
  } else {
    character.code_point = -1;
  }
  return character;
}

bool is_control(utf8proc_int32_t code_point) {
  const utf8proc_category_t category = utf8proc_category(code_point);
  // Format characters (Cf) hold the bidirectional overrides, which can make a line read as
  // something else.
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

template <typename Replace>
std::string rewritten(std::string_view text, Replace replace) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character character = front(text);
    result += replace(character.code_point, text.substr(0, character.bytes));
    text.remove_prefix(character.bytes);
  }
  return result;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  return rewritten(text, [](utf8proc_int32_t code_point, std::string_view bytes) {
    return code_point < 0 ? kReplacement : bytes;
  });
}

std::string printable(std::string_view text) {
  return rewritten(text, [](utf8proc_int32_t code_point, std::string_view bytes) {
    if (code_point < 0) return kReplacement;
    return is_control(code_point) ? std::string_view(" ") : bytes;
  });
}

std::string_view cut(std::string_view text, std::size_t bytes) {
  std::size_t kept = 0;
  while (kept < text.size()) {
    const std::size_t next = kept + front(text.substr(kept)).bytes;
    if (next > bytes) break;
    kept = next;
  }
  return text.substr(0, kept);
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = front(text);
    width += character.code_point < 0
                 ? 1U
                 : static_cast<std::size_t>(utf8proc_charwidth(character.code_point));
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string clipped(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::string result;
  std::size_t used = 1;  // the ellipsis
  while (!text.empty()) {
    const Character character = front(text);
    const std::string_view bytes = text.substr(0, character.bytes);
    used += display_width(bytes);
    if (used > width) break;
    result += bytes;
    text.remove_prefix(character.bytes);
  }
  return result + "…";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const bool fits = display_width(lines.back()) + 1 + display_width(word) <= width;
    if (!lines.back().empty() && !fits) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

}  // namespace tare::report
