// The sums of groups of activations, with the same bits on every instruction set.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/bf16_arithmetic.h"

namespace tare::kernels {
namespace {

// Lanes on any instruction set (GCC's and Clang's vector types), by reference: by value, how they
// are passed depends on the instruction set.
using Lanes16 = float __attribute__((vector_size(64)));

// Even elements in one vector and odd ones in another, of 32 at a time, then both. `count` is a
// multiple of 32.
inline void lanes_of_x(const Bf16* x, std::uint64_t count, Lanes16& into) {
  using Pairs16 = std::uint32_t __attribute__((vector_size(64)));
  Lanes16 even = {}, odd = {};
  for (std::uint64_t i = 0; i < count; i += 32) {
    Pairs16 pairs;
    std::memcpy(&pairs, x + i, sizeof pairs);
    even += reinterpret_cast<Lanes16>(pairs << 16);
    odd += reinterpret_cast<Lanes16>(pairs & 0xFFFF0000u);
  }
  into = even + odd;
}

inline constexpr std::uint64_t kSumsAtOnce = 4;

// The sums of so many groups of `count` elements, at x[0] to x[3]: sixteen lanes, then halves of
// them, always in this order. All four at once fill the vectors of every step.
inline void sums_of_x(const Bf16* const (&x)[kSumsAtOnce], std::uint64_t count, float* into) {
  Lanes16 a, b, c, d;
  lanes_of_x(x[0], count, a), lanes_of_x(x[1], count, b);
  lanes_of_x(x[2], count, c), lanes_of_x(x[3], count, d);
  const Lanes16 ab =
      __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
      __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  const Lanes16 cd =
      __builtin_shufflevector(c, d, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
      __builtin_shufflevector(c, d, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  const Lanes16 four =
      __builtin_shufflevector(ab, cd, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
      __builtin_shufflevector(ab, cd, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  const Lanes16 two = four + __builtin_shufflevector(four, four, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8,
                                                     9, 14, 15, 12, 13);
  for (std::uint64_t i = 0; i < kSumsAtOnce; ++i) into[i] = two[4 * i] + two[4 * i + 1];
}

}  // namespace
}  // namespace tare::kernels
