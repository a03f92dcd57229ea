// Text made fit to print: what came from elsewhere (a library's name, a model file, a plugin's
// sentence) is valid UTF-8 without control characters, measured by the columns it takes on a
// terminal and not by its bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tare::report {

// Every byte that is not part of valid UTF-8 becomes U+FFFD. Applied to what is written into a
// results file and to what is printed, so that a replay prints the bytes that the run printed.
std::string valid_utf8(std::string_view text);

// valid_utf8, and control characters (a terminal would obey them) become spaces.
std::string printable(std::string_view text);

// Terminal columns of a printable text: 2 for wide East Asian characters, 0 for combining marks.
std::size_t display_width(std::string_view text);

// At most `bytes` bytes of valid UTF-8, cut between characters.
std::string_view cut(std::string_view text, std::size_t bytes);

// A text field of a dispatch record, which an implementation filled: it may lack its NUL and need
// not be UTF-8. valid_utf8, and it fits into such a field again, so that what is read from a file
// is what was written.
template <std::size_t Size>
std::string field_text(const char (&field)[Size]) {
  const std::string_view whole(field, Size);
  return std::string(cut(valid_utf8(whole.substr(0, whole.find('\0'))), Size - 1));
}

// At most `width` columns; what is cut off ends in "…".
std::string clipped(std::string_view text, std::size_t width);

// The lines of a text, each of at most `width` columns, broken at spaces; a longer word stands on a
// line of its own. One line at least.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace tare::report
