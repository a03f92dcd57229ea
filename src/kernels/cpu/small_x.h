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

// Whether a row of x is to be lifted.
template <typename Element>
inline bool is_small(const Element* x, std::uint64_t k) {
  Magnitude<Element> most = 0;
  for (std::uint64_t i = 0; i < k; ++i) {
    const Magnitude<Element> one = magnitude(x[i]);
    most = one > most ? one : most;
  }
  return most < magnitude_of<Element>(kSmallRow);
}

// Whether a row holds anything that counts as zero, and is not.
inline bool has_tiny(const Bf16* x, std::uint64_t k) {
  Bf16 least = 0xFFFF;
  for (std::uint64_t i = 0; i < k; ++i) {
    const auto below = static_cast<Bf16>(magnitude(x[i]) - 1);  // of zero the largest
    least = below < least ? below : least;
  }
  return least < magnitude_of<Bf16>(kLeastX) - 1;
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
    const bool small = is_small(x + row * k, k);
    lower[row] = lowered(small);
    any = any || small || has_tiny(x + row * k, k);
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
