// The sum of a group of activations, with the same bits on every instruction set.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/bf16_arithmetic.h"

namespace tare::kernels {
namespace {

// Sixteen lanes on any instruction set (GCC's and Clang's vector types), in memory between steps:
// by value, how they are passed depends on the instruction set.
using Lanes16 = float __attribute__((vector_size(64)));
using Words16 = std::uint32_t __attribute__((vector_size(64)));

// As the vector paths flush, which their control word does again: plain C++ has none.
inline void flush_lanes(Lanes16& value) {
  const auto bits = reinterpret_cast<Words16>(value);
  const auto tiny = reinterpret_cast<Words16>((bits & 0x7F800000u) == 0);
  value = reinterpret_cast<Lanes16>(bits & (~tiny | 0x80000000u));
}

inline void add_lanes(Lanes16& sum, const Bf16* x, std::uint64_t count) {
  using Halves16 = Bf16 __attribute__((vector_size(32)));
  Halves16 halves = {};
  std::memcpy(&halves, x, count * sizeof(Bf16));
  auto value = reinterpret_cast<Lanes16>(__builtin_convertvector(halves, Words16) << 16);
  flush_lanes(value);
  sum += value;
  flush_lanes(sum);
}

// Adds the lanes from `half` on to the first ones; what becomes of the others does not matter.
template <int... Lane>
inline void fold_half(Lanes16& sum, std::integer_sequence<int, Lane...>, int half) {
  const Words16 places = {static_cast<std::uint32_t>((Lane + half) % 16)...};
  sum += __builtin_shuffle(sum, places);
  flush_lanes(sum);
}

// Sixteen lanes, then halves of them, always in this order.
inline void sum_of_x(const Bf16* x, std::uint64_t count, float* into) {
  constexpr std::uint64_t kLanes = 16;
  Lanes16 sum = {};
  std::uint64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) add_lanes(sum, x + i, kLanes);
  if (i < count) add_lanes(sum, x + i, count - i);
#pragma GCC unroll 4
  for (int half = 8; half > 0; half /= 2)
    fold_half(sum, std::make_integer_sequence<int, 16>{}, half);
  *into = sum[0];
}

}  // namespace
}  // namespace tare::kernels
