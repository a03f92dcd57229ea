// Activations rounded to 8 bits, in blocks of 32 along k, each with a step of its own (its largest
// magnitude is 127 steps), as the kernel of rounded.h takes them: four of k in a 32-bit lane.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/grouped_task.h"
#include "kernels/cpu/small_x.h"

namespace tare::kernels {
namespace {

constexpr std::uint64_t kRoundedGroup = 32;  // of k
constexpr std::uint64_t kRoundedGroups = 8;  // of a block
constexpr std::uint64_t kRoundedBlock = kRoundedGroup * kRoundedGroups;
constexpr std::uint64_t kRoundedQuads = kRoundedBlock / 4;

using Quad = std::uint32_t;  // four int8

// One row of a block of x.
struct RoundedRow {
  Quad x[kRoundedQuads];
  float step[kRoundedGroups];
  float less[kRoundedGroups];  // -step * sum of x, for biases
  // - zero point * sum of x of each of the format's groups, of 16 or of 32: what their sums start
  // from
  std::int32_t start[2 * kRoundedGroups];
};

// Vectors on any instruction set (GCC's and Clang's vector types), of one function: by value, how
// they are passed depends on the instruction set.
using Words16 = std::uint32_t __attribute__((vector_size(64)));
using Floats16 = float __attribute__((vector_size(64)));
using Ints16 = std::int32_t __attribute__((vector_size(64)));

[[gnu::always_inline]] inline void load_bits(const Bf16* x, Words16& into) {
  Bf16 __attribute__((vector_size(32))) words;
  std::memcpy(&words, x, sizeof words);
  into = __builtin_convertvector(words, Words16) << 16;
}
[[gnu::always_inline]] inline void load_bits(const float* x, Words16& into) {
  std::memcpy(&into, x, sizeof into);
}

[[gnu::always_inline]] inline std::uint32_t largest_of(const Words16& all) {
  using Words8 = std::uint32_t __attribute__((vector_size(32)));
  using Words4 = std::uint32_t __attribute__((vector_size(16)));
  const Words8 low8 = __builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7);
  const Words8 high8 = __builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15);
  const Words8 eight = low8 > high8 ? low8 : high8;
  const Words4 low4 = __builtin_shufflevector(eight, eight, 0, 1, 2, 3);
  const Words4 high4 = __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  const Words4 four = low4 > high4 ? low4 : high4;
  return std::max(std::max(four[0], four[1]), std::max(four[2], four[3]));
}

[[gnu::always_inline]] inline std::int32_t sum_of(const Ints16& all) {
  using Ints8 = std::int32_t __attribute__((vector_size(32)));
  using Ints4 = std::int32_t __attribute__((vector_size(16)));
  const Ints8 eight = __builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7) +
                      __builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15);
  const Ints4 four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
                     __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return four[0] + four[1] + four[2] + four[3];
}

constexpr std::uint32_t kMagnitude = 0x7FFFFFFF, kInfinity = 0x7F800000;

// The step of 32 values whose largest magnitude, before `factor`, has the bits `most`; `inverse` of
// it. A NaN or an infinity makes it NaN, and with it the row's outputs; values below kLeastX count
// as zero.
inline float step_of(std::uint32_t most, float factor, float& inverse) {
  const bool finite = most < kInfinity;
  const float largest = std::bit_cast<float>(finite ? most : 0) * factor;
  const bool counts = largest >= kLeastX;
  inverse = counts ? 127 / largest : 0;
  if (counts) return largest / 127;
  return std::bit_cast<float>(finite ? 0u : kDefaultNan);
}

// Group `g` of 32 of a block: times `factor`, to int8, to nearest even. Of f32 and of the bf16 that
// it rounds to exactly, the same. `Group`: the format's.
template <std::uint64_t Group, typename Element>
inline void put_group(const Element* x, float factor, std::int32_t zero_point, std::uint64_t g,
                      RoundedRow& row) {
  Words16 bits[2];
  load_bits(x, bits[0]);
  load_bits(x + 16, bits[1]);
  const Words16 first = bits[0] & kMagnitude, second = bits[1] & kMagnitude;
  float inverse;
  row.step[g] = step_of(largest_of(first > second ? first : second), factor, inverse);
  std::int32_t sum[2];
  for (std::size_t half = 0; half < 2; ++half) {
    constexpr float kShift = 0x1.8p23F;  // the sum's low bits are the integer
    const Words16 none = {};
    const Words16 finite = (bits[half] & kMagnitude) < kInfinity ? bits[half] : none;
    const Floats16 shifted = reinterpret_cast<Floats16>(finite) * factor * inverse + kShift;
    const Ints16 codes = reinterpret_cast<Ints16>(shifted) - std::bit_cast<std::int32_t>(kShift);
    using Bytes16 = std::int8_t __attribute__((vector_size(16)));
    const Bytes16 bytes = __builtin_convertvector(codes, Bytes16);
    std::memcpy(&row.x[g * kRoundedGroup / 4 + half * 4], &bytes, sizeof bytes);
    sum[half] = sum_of(codes);
  }
  const std::int32_t all = sum[0] + sum[1];
  row.less[g] = -row.step[g] * static_cast<float>(all);
  if constexpr (Group == kRoundedGroup) {
    row.start[g] = -zero_point * all;
  } else {
    row.start[2 * g] = -zero_point * sum[0];
    row.start[2 * g + 1] = -zero_point * sum[1];
  }
}

// [block][row]. `lower`: of each row, what its outputs are to be multiplied by.
template <std::uint64_t Group, typename Element>
inline void round_x(const GroupedTask& task, const Element* x, RoundedRow* into, float* lower) {
  const std::uint64_t k = task.shape.k;
  for (std::uint64_t row = 0; row < task.rows; ++row)
    lower[row] = lowered(is_small(extremes_of(x + row * k, k)));
  for (std::uint64_t first = 0; first < k; first += kRoundedBlock) {
    const std::uint64_t left = (k - first) / kRoundedGroup;
    for (std::uint64_t row = 0; row < task.rows; ++row, ++into) {
      const Element* from = x + row * k + first;
      const float factor = 1 / lower[row];
      for (std::uint64_t g = 0; g < kRoundedGroups && g < left; ++g)
        put_group<Group>(from + g * kRoundedGroup, factor, task.shape.zero_point, g, *into);
    }
  }
}

}  // namespace
}  // namespace tare::kernels
