#include "report/row_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <vector>

#include "base/error.h"
#include "report/columns.h"
#include "report/text.h"

namespace tare::report {
namespace {

// As people type it: "×" is an x, capitals do not count.
std::string plain(std::string_view text) {
  constexpr std::string_view kTimes = "×";
  std::string result;
  while (!text.empty()) {
    if (text.starts_with(kTimes)) {
      result += 'x';
      text.remove_prefix(kTimes.size());
      continue;
    }
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
    text.remove_prefix(1);
  }
  return result;
}

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// Every word that is true of a row.
std::set<std::string> words_of(const Row& row) {
  const tare_problem& problem = row.weighing.problem;
  const std::string model = plain(row.model), projection = plain(row.projection);
  const std::string shape = fmt::format("{}x{}", problem.k, problem.n);
  std::set<std::string> words{
      projection, shape, std::to_string(problem.rows), fmt::format("{}x{}", shape, problem.rows),
      "row",      "rows"};
  for (const std::string& word : split(model, " ")) words.insert(word);
  for (const std::string& part : split(projection, "/")) words.insert(part);
  return words;
}

std::string list_of(const Results& results, const std::vector<std::size_t>& indices) {
  constexpr std::size_t kMost = 40;
  std::string list;
  for (std::size_t i = 0; i < std::min(indices.size(), kMost); ++i) {
    list += fmt::format("{}{}: {}", list.empty() ? "" : "; ", indices[i] + 1,
                        row_name(results.rows[indices[i]]));
  }
  if (indices.size() > kMost) list += fmt::format("; and {} more", indices.size() - kMost);
  return list;
}

std::vector<std::size_t> all_of(const Results& results) {
  std::vector<std::size_t> indices(results.rows.size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  return indices;
}

std::optional<std::size_t> as_number(const std::string& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? std::optional(number) : std::nullopt;
}

std::vector<std::size_t> rows_with(const Results& results, const std::string& wanted) {
  const std::vector<std::string> wanted_words = split(plain(wanted), " ,");
  std::vector<std::size_t> found;
  if (wanted_words.empty()) return found;
  for (std::size_t i = 0; i < results.rows.size(); ++i) {
    const std::set<std::string> words = words_of(results.rows[i]);
    const bool all_true = std::ranges::all_of(
        wanted_words, [&](const std::string& word) { return words.contains(word); });
    if (all_true) found.push_back(i);
  }
  return found;
}

}  // namespace

std::size_t choose_row(const Results& results, const std::string& wanted) {
  if (results.rows.empty()) fail(Blame::kInput, "the file has no row to explain");
  const std::optional<std::size_t> number = as_number(wanted);
  if (number && *number >= 1 && *number <= results.rows.size()) return *number - 1;
  const std::vector<std::size_t> found =
      number ? std::vector<std::size_t>{} : rows_with(results, wanted);
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    fail(Blame::kInput, "no row is '{}'; name one by its number or its words: {}",
         printable(wanted), list_of(results, all_of(results)));
  }
  fail(Blame::kInput, "'{}' is true of several rows; name one by its number, or say more: {}",
       printable(wanted), list_of(results, found));
}

}  // namespace tare::report
