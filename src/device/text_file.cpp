#include "device/text_file.h"

#include <charconv>
#include <cstdio>
#include <memory>

namespace tare::device {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(separators, at)) != std::string_view::npos) {
    const std::size_t end = text.find_first_of(separators, at);
    parts.push_back(text.substr(at, end - at));
    if (end == std::string_view::npos) break;
    at = end;
  }
  return parts;
}

}  // namespace

// By hand, because a stream's buffer throws where read() fails: on a folder, or on a process that
// ended after it was opened.
std::optional<std::string> read_text(const std::filesystem::path& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             &std::fclose);
  if (file == nullptr) return std::nullopt;
  std::string text;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;) {
    text.append(buffer, got);
  }
  if (std::ferror(file.get())) return std::nullopt;
  return text;
}

std::string read_word(const std::filesystem::path& path) {
  const std::string text = read_text(path).value_or("");
  return std::string(trimmed(text));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  return split(text, "\n");
}

std::vector<std::string_view> words_of(std::string_view line) {
  return split(line, kSpace);
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return std::nullopt;
  unsigned shift = 0;
  switch (text.back()) {
    case 'K':
      shift = 10;
      break;
    case 'M':
      shift = 20;
      break;
    case 'G':
      shift = 30;
      break;
    default:
      break;
  }
  if (shift != 0) text.remove_suffix(1);
  const auto value = parse_number(text);
  if (!value || *value > (UINT64_MAX >> shift)) return std::nullopt;
  return *value << shift;
}

std::vector<unsigned> parse_processor_list(std::string_view text) {
  constexpr std::uint64_t kMostProcessors = 1u << 16;  // a lying file must not fill the memory
  std::vector<unsigned> processors;
  for (const std::string_view part : split(trimmed(text), ", ")) {
    const std::size_t dash = part.find('-');
    const auto first = parse_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(part.substr(dash + 1));
    if (!first || !last || *last >= kMostProcessors) continue;
    for (std::uint64_t p = *first; p <= *last; ++p) processors.push_back(static_cast<unsigned>(p));
  }
  return processors;
}

}  // namespace tare::device
