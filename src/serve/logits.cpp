#include "serve/logits.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tare::serve {
namespace {

// f32 as integers in the order of their values, so that neighbours differ by 1.
std::int64_t rank_of(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  constexpr std::int64_t kLeast = std::int64_t{1} << 31;
  return bits < 0 ? -(static_cast<std::int64_t>(bits) + kLeast) : bits;
}

bool same_class(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return true;
}

void add_element(LogitDifference& sum, float before, float after) {
  ++sum.elements;
  if (!same_class(before, after)) {
    ++sum.class_mismatch;
    ++sum.differing;
    return;
  }
  if (std::isnan(before) ||
      std::bit_cast<std::uint32_t>(before) == std::bit_cast<std::uint32_t>(after))
    return;
  ++sum.differing;
  const std::int64_t apart = rank_of(before) - rank_of(after);
  sum.max_ulp = std::max(sum.max_ulp, static_cast<std::uint64_t>(std::abs(apart)));
  sum.max_absolute = std::max(sum.max_absolute,
                              std::abs(static_cast<double>(before) - static_cast<double>(after)));
}

// log of the sum of exp, without overflow.
double log_total(std::span<const float> logits) {
  const double most = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float one : logits) sum += std::exp(one - most);
  return most + std::log(sum);
}

double divergence(std::span<const float> before, std::span<const float> after) {
  const double total_before = log_total(before), total_after = log_total(after);
  double sum = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double log_p = before[i] - total_before;
    sum += std::exp(log_p) * (log_p - (after[i] - total_after));
  }
  return std::max(0.0, sum);  // below zero by rounding only
}

void add_token(LogitDifference& sum, std::span<const float> before, std::span<const float> after) {
  ++sum.tokens;
  const std::uint64_t differing = sum.differing;
  for (std::size_t i = 0; i < before.size(); ++i) add_element(sum, before[i], after[i]);
  if (sum.differing == differing) return;
  const double one = divergence(before, after);
  sum.kl_sum += one;
  sum.kl_max = std::max(sum.kl_max, one);
  if (std::ranges::max_element(before) - before.begin() !=
      std::ranges::max_element(after) - after.begin())
    ++sum.top_changes;
}

}  // namespace

unsigned bits_of(std::uint64_t ulp) {
  return static_cast<unsigned>(std::bit_width(ulp));
}

void add(LogitDifference& sum, std::span<const float> before, std::span<const float> after,
         std::size_t vocabulary) {
  for (std::size_t at = 0; at + vocabulary <= std::min(before.size(), after.size());
       at += vocabulary)
    add_token(sum, before.subspan(at, vocabulary), after.subspan(at, vocabulary));
}

}  // namespace tare::serve
