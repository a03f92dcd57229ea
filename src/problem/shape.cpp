#include "problem/shape.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>

#include "base/error.h"
#include "formats/weight_format.h"
#include "problem/problem.h"
#include "problem/text.h"

namespace tare::problem {
namespace {

// A number of any length: where more than 64 bits would be needed, the largest that they hold,
// which is past every limit.
std::optional<std::uint64_t> parse_dimension(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return std::numeric_limits<std::uint64_t>::max();
  return value;
}

bool in_range(std::uint64_t dimension) {
  return dimension >= 1 && dimension <= kMostDimension;
}

// k and n as they were given: digits, or a number.
template <typename Given>
[[noreturn]] void fail_range(std::string_view where, const Given& k, const Given& n) {
  fail(Blame::kInput, "{}: k = {} and n = {} must each be from 1 to {} (2^24)", where, k, n,
       kMostDimension);
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
  if (!in_range(k) || !in_range(n)) fail_range(where, k, n);
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
  const std::string_view k_digits = text.substr(0, position);
  const std::string_view n_digits = text.substr(position + width);
  const auto k = parse_dimension(k_digits);
  const auto n = parse_dimension(n_digits);
  if (!k || !n) {
    fail(Blame::kInput, "{}: k and n must be whole numbers, for example 4096x1024", where);
  }
  if (!in_range(*k) || !in_range(*n)) {
    fail_range(where, printable(k_digits, 64), printable(n_digits, 64));
  }
  check_shape(*k, *n, where);
  Model model;
  model.name = "shape";
  model.source = fmt::format("--shape {}x{}", *k, *n);
  model.projections.push_back({.name = "-", .k = *k, .n = *n, .count = 1, .stored = ""});
  model.weights_per_token = *k * *n;
  return model;
}

tare_problem problem_of(const Projection& projection, std::uint32_t rows, std::uint32_t weights,
                        std::uint32_t activations) {
  if (rows < 1 || rows > kMostRows) {
    fail(Blame::kInput, "rows {}: must be from 1 to {}", rows, kMostRows);
  }
  check_shape(projection.k, projection.n,
              fmt::format("projection '{}'", printable(projection.name)));
  formats::require_whole_blocks(formats::format_of(weights), projection.k);
  return {.k = projection.k,
          .n = projection.n,
          .rows = rows,
          .weights = weights,
          .activations = activations,
          .output = activations == TARE_F32 ? std::uint32_t{TARE_F32} : std::uint32_t{TARE_BF16},
          .accumulator = TARE_F32,
          .bias = projection.bias};
}

tare_problem bf16_problem(const Projection& projection, std::uint32_t rows) {
  return problem_of(projection, rows, TARE_BF16, TARE_BF16);
}

std::uint32_t weight_type(std::string_view stored) {
  return weighed_as(stored).type;
}

std::uint32_t bias_type(std::string_view stored) {
  const std::uint32_t type = weight_type(stored);
  const bool plain = type != 0 && formats::format_of(type).family == formats::Family::kPlain;
  return plain ? type : 0;
}

std::uint32_t usual_bias(std::uint32_t weights) {
  switch (formats::format_of(weights).family) {
    case formats::Family::kPlain:
      return weights;
    case formats::Family::kBlocks:
      return TARE_F32;
    case formats::Family::kPlanes:
      break;
  }
  return TARE_BF16;
}

std::uint32_t usual_activations(std::uint32_t weights) {
  const bool blocks = formats::format_of(weights).family == formats::Family::kBlocks;
  return blocks ? TARE_BF16_AS_INT8 : TARE_BF16;
}

}  // namespace tare::problem
