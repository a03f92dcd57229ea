#include "problem/shape.h"

#include <charconv>
#include <optional>

#include "base/error.h"
#include "problem/problem.h"
#include "problem/text.h"

namespace tare::problem {
namespace {

std::optional<std::uint64_t> parse_dimension(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  // All digits, but more than 64 bits hold: let the limit speak, it names the largest value.
  if (error == std::errc::result_out_of_range) return kMostDimension + 1;
  if (error != std::errc{}) return std::nullopt;
  return value;
}

// Position and width of the sign between k and n: x, X, or the × that the table prints.
std::pair<std::size_t, std::size_t> find_times(std::string_view text) {
  constexpr std::string_view kTimes = "\u00d7";
  const std::size_t letter = text.find_first_of("xX");
  if (letter != std::string_view::npos) return {letter, 1};
  return {text.find(kTimes), kTimes.size()};
}

}  // namespace

void check_shape(std::uint64_t k, std::uint64_t n, std::string_view where) {
  if (k < 1 || k > kMostDimension || n < 1 || n > kMostDimension) {
    fail(Blame::kInput, "{}: k = {} and n = {} must each be from 1 to {} (2^24)", where, k, n,
         kMostDimension);
  }
  if (k * n > kMostMatrixBytes / 2) {
    fail(Blame::kInput, "{}: {} x {} is {} bytes at two bytes a weight, more than {} (2^40)", where,
         k, n, k * n * 2, kMostMatrixBytes);
  }
}

Model parse_shape(std::string_view text) {
  const std::string where = fmt::format("shape '{}'", printable(text, 64));
  const auto [position, width] = find_times(text);
  if (position == std::string_view::npos) {
    fail(Blame::kInput, "{}: write k x n, for example 4096x1024", where);
  }
  const auto k = parse_dimension(text.substr(0, position));
  const auto n = parse_dimension(text.substr(position + width));
  if (!k || !n) {
    fail(Blame::kInput, "{}: k and n must be whole numbers, for example 4096x1024", where);
  }
  check_shape(*k, *n, where);
  Model model;
  model.name = "shape";
  model.source = fmt::format("--shape {}x{}", *k, *n);
  model.projections.push_back({.name = "-", .k = *k, .n = *n, .count = 1, .stored = ""});
  model.weights_per_token = *k * *n;
  return model;
}

tare_problem bf16_problem(const Projection& projection, std::uint32_t rows) {
  if (rows < 1 || rows > kMostRows) {
    fail(Blame::kInput, "rows {}: must be from 1 to {}", rows, kMostRows);
  }
  check_shape(projection.k, projection.n,
              fmt::format("projection '{}'", printable(projection.name)));
  return {.k = projection.k,
          .n = projection.n,
          .rows = rows,
          .weights = TARE_BF16,
          .activations = TARE_BF16,
          .output = TARE_BF16,
          .accumulator = TARE_F32};
}

}  // namespace tare::problem
