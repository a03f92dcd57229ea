// What every rule of quantise.cpp does with a group of weights: its extremes, and the integers next
// to its weights. In loops that a compiler turns into vectors, inlined into functions of several
// instruction sets: extremes are taken of integers, since those of floats are not reordered.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace tare::prove {

using Byte = std::uint8_t;
using Group = std::span<const float>;

#define TARE_INLINE [[gnu::always_inline]] inline

TARE_INLINE void put(std::uint16_t word, Byte* into) {
  std::memcpy(into, &word, sizeof word);
}

TARE_INLINE float inverse(float value) {
  return value == 0 ? 0 : 1 / value;
}

// The integer next to the value, within [least, most]: halves to even.
TARE_INLINE int code_of(float value, int least, int most) {
  constexpr float kShift = 0x1.8p23F;  // the sum's last bit is a whole one
  const auto low = static_cast<float>(least), high = static_cast<float>(most);
  const float raised = value < low ? low : value;
  const float limited = raised > high ? high : raised;
  return static_cast<int>((limited + kShift) - kShift);
}

// Codes of (w + shift) * factor, `zero` added to each.
struct Rounding {
  float shift = 0;
  float factor = 0;
  int least = 0;
  int most = 0;
  int zero = 0;
};
TARE_INLINE void put_codes(const float* w, std::uint64_t count, const Rounding& rounding,
                           Byte* codes) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const float value = (w[i] + rounding.shift) * rounding.factor;
    codes[i] = static_cast<Byte>(code_of(value, rounding.least, rounding.most) + rounding.zero);
  }
}

TARE_INLINE float largest_magnitude(Group group) {
  std::uint32_t most = 0;
  for (const float w : group) most = std::max(most, std::bit_cast<std::uint32_t>(w) & 0x7FFFFFFFU);
  return std::bit_cast<float>(most);
}

struct Range {
  float least;
  float most;
};
TARE_INLINE Range range_of(Group group) {
  // Integers in the order of the floats whose bits they are made of.
  const auto ordered = [](std::int32_t bits) { return bits ^ (bits >> 31 & 0x7FFFFFFF); };
  std::int32_t least = ordered(std::bit_cast<std::int32_t>(group[0])), most = least;
  for (const float w : group) {
    const std::int32_t value = ordered(std::bit_cast<std::int32_t>(w));
    least = std::min(least, value);
    most = std::max(most, value);
  }
  return {std::bit_cast<float>(ordered(least)), std::bit_cast<float>(ordered(most))};
}

// The weight of largest magnitude, with its sign: ggml makes it the code that has no counterpart.
TARE_INLINE float extreme(Group group) {
  const Range range = range_of(group);
  return -range.least > range.most ? range.least : range.most;
}

}  // namespace tare::prove
