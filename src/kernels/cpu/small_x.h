// Activations so small that their sums would be subnormal, which vdpbf16ps makes zero. It need not
// see any: codes are integers, so the sums of a group are multiples of the last bit of x's least
// element, and none is subnormal where every element is zero or at least kLeastX. What follows a
// group keeps subnormals, as the control word has it.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/bf16_arithmetic.h"

namespace tare::kernels {
namespace {

// A row of nothing but values below kSmallRow is multiplied by kLift, which is exact, and its
// outputs by the inverse: the sums of the two are as far from overflow as from being subnormal. In
// other rows elements below kLeastX count as zero: 2^-64 of the largest.
constexpr float kLeastX = 0x1p-118F;
constexpr float kSmallRow = 0x1p-54F;
constexpr float kLift = 0x1p64F;

inline std::uint32_t f32_bits(Bf16 value) {
  return static_cast<std::uint32_t>(value) << 16;
}
inline std::uint32_t f32_bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

// Without the sign, in as many bits as an element has: so many more go into a vector.
inline Bf16 magnitude(Bf16 value) {
  return static_cast<Bf16>(value & 0x7FFFu);
}
inline std::uint32_t magnitude(float value) {
  return f32_bits(value) & 0x7FFFFFFFu;
}
template <typename Element>
using Magnitude = decltype(magnitude(Element{}));
template <typename Element>
constexpr Magnitude<Element> magnitude_of(float value) {
  constexpr unsigned kDropped = 32 - 8 * sizeof(Element);
  return static_cast<Magnitude<Element>>(std::bit_cast<std::uint32_t>(value) >> kDropped);
}

// What is largest and least in a row of x, apart from zeros.
template <typename Element>
struct Extremes {
  Magnitude<Element> most, least_less_one;  // less one: of nothing but zeros the largest there is
};
template <typename Element>
inline Extremes<Element> extremes_of(const Element* x, std::uint64_t k) {
  constexpr auto kNone = static_cast<Magnitude<Element>>(-1);
  Extremes<Element> found{0, kNone};
  for (std::uint64_t i = 0; i < k; ++i) {
    const Magnitude<Element> one = magnitude(x[i]);
    const auto below = static_cast<Magnitude<Element>>(one - 1);
    found.most = one > found.most ? one : found.most;
    found.least_less_one = below < found.least_less_one ? below : found.least_less_one;
  }
  return found;
}

// Whether a row of x is to be lifted.
template <typename Element>
inline bool is_small(const Extremes<Element>& row) {
  return row.most < magnitude_of<Element>(kSmallRow);
}

// Whether a row holds anything that counts as zero, and is not.
template <typename Element>
inline bool has_tiny(const Extremes<Element>& row) {
  return row.least_less_one < magnitude_of<Element>(kLeastX) - 1;
}

// What outputs of a row are to be multiplied by.
inline float lowered(bool small) {
  return small ? 1 / kLift : 1;
}

// `rows` rows of x without anything small: x itself where that has nothing, else a copy. `lower`:
// of each row, what lowered() says.
inline const Bf16* without_small(const Bf16* x, std::uint64_t k, std::uint64_t rows, Bf16* copy,
                                 float* lower) {
  bool any = false;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const Extremes<Bf16> extremes = extremes_of(x + row * k, k);
    lower[row] = lowered(is_small(extremes));
    any = any || is_small(extremes) || has_tiny(extremes);
  }
  if (!any) return x;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const float factor = 1 / lower[row];
    for (std::uint64_t i = row * k; i < (row + 1) * k; ++i) {
      const float value = std::bit_cast<float>(f32_bits(x[i])) * factor;
      const bool tiny = magnitude(value) < magnitude_of<float>(kLeastX);
      copy[i] = static_cast<Bf16>((tiny ? f32_bits(value) & 0x80000000u : f32_bits(value)) >> 16);
    }
  }
  return copy;
}

}  // namespace
}  // namespace tare::kernels
