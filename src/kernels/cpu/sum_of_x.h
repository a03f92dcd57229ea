// The sum of a group of activations, with the same bits on every instruction set.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/bf16_arithmetic.h"

namespace tare::kernels {
namespace {

// Lanes on any instruction set (GCC's and Clang's vector types), of one function: by value, how
// they are passed depends on the instruction set.
using Lanes4 = float __attribute__((vector_size(16)));
using Lanes8 = float __attribute__((vector_size(32)));
using Lanes16 = float __attribute__((vector_size(64)));

// Sixteen lanes, then halves of them, always in this order. `count` is a multiple of 16.
inline void sum_of_x(const Bf16* x, std::uint64_t count, float* into) {
  using Halves16 = Bf16 __attribute__((vector_size(32)));
  using Words16 = std::uint32_t __attribute__((vector_size(64)));
  Lanes16 all = {};
  for (std::uint64_t i = 0; i < count; i += 16) {
    Halves16 halves;
    std::memcpy(&halves, x + i, sizeof halves);
    all += reinterpret_cast<Lanes16>(__builtin_convertvector(halves, Words16) << 16);
  }
  const Lanes8 eight = __builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7) +
                       __builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15);
  const Lanes4 four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
                      __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  *into = (four[0] + four[2]) + (four[1] + four[3]);
}

}  // namespace
}  // namespace tare::kernels
