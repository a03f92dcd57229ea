// The arithmetic every panel kernel agrees on, in scalar code that runs anywhere: what Intel's
// vdpbf16ps does to one lane. Every vector path must give these bits; the tests hold each of them,
// and the instruction itself, against this.
//
// One pair (even, odd) is two fused multiply-adds, the odd element first, each rounded once to
// nearest even. Subnormal inputs and accumulators count as zero, and a result that is tiny after
// rounding becomes a zero of its sign. Measured on a Xeon (Emerald Rapids): 0 of 30 million random
// lanes differ, NaN payloads included.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tare::kernels {

using Bf16 = std::uint16_t;      // bit pattern
using Bf16Pair = std::uint32_t;  // even element in the low half, odd element in the high half

inline constexpr std::uint32_t kDefaultNan =
    0xFFC00000u;  // what the processor makes of Inf * 0 and Inf - Inf

static inline bool is_nan(Bf16 value) {
  return (value & 0x7FFFu) > 0x7F80u;
}

static inline float flushed(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool tiny = (bits & 0x7F800000u) == 0;
  return std::bit_cast<float>(tiny ? bits & 0x80000000u : bits);
}

// Exact.
static inline float widen_unflushed(Bf16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}
static inline void widen_unflushed(const Bf16* from, std::uint64_t count, float* into) {
  for (std::uint64_t i = 0; i < count; ++i) into[i] = widen_unflushed(from[i]);
}

// The same, but subnormals become zero.
static inline float widen(Bf16 value) {
  return flushed(widen_unflushed(value));
}

// Rounds to nearest even, as ggml does: subnormals stay, a NaN keeps its upper payload and turns
// quiet.
static inline Bf16 narrow_unflushed(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40u;
  return static_cast<Bf16>((bits & 0x7FFFFFFFu) > 0x7F800000u ? quiet : rounded);
}

// As vcvtneps2bf16: the same, but subnormals become zero.
static inline Bf16 narrow(float value) {
  return narrow_unflushed(flushed(value));
}

// a * b + c rounded once, for a and b with at most 24 bits between them (two bf16 values), all of
// them flushed. Branch free, so that a compiler can vectorise it. A NaN result is some NaN: whose
// payload it has is nan_of()'s business.
//
// The product is exact in double. Their sum is rounded to odd there, which keeps the rounding to
// float right (53 >= 24 + 2 bits), and the test for tiny then sees on which side of the last value
// that rounds up to the smallest normal it lies.
static inline float multiply_add_flushed(float a, float b, float c) {
  constexpr double kLeastNotTiny = 0x1p-126 * (1.0 - 0x1p-25);
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  const double sum = product + addend;
  const double share = sum - product;
  const double error = (product - (sum - share)) + (addend - share);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  const bool inexact = (error > 0) | (error < 0);  // false for NaN: an infinite sum is final
  const bool away = (error > 0) == (sum > 0);
  const std::uint64_t step = (inexact & ((bits & 1u) == 0)) ? (away ? 1u : ~std::uint64_t{0}) : 0u;
  const double odd = std::bit_cast<double>(bits + step);
  const float rounded = static_cast<float>(odd);
  return std::fabs(odd) < kLeastNotTiny ? std::copysign(0.0F, rounded) : rounded;
}

// One lane of vdpbf16ps, for operands without NaN payloads to preserve: see nan_of().
static inline float dot_pair(float sum, Bf16Pair x, Bf16Pair w) {
  const auto half = [](Bf16Pair pair, int shift) {
    return widen(static_cast<Bf16>(pair >> shift));
  };
  sum = multiply_add_flushed(half(x, 16), half(w, 16), flushed(sum));
  return multiply_add_flushed(half(x, 0), half(w, 0), sum);
}

// The pair of x that belongs to `pair` of k; odd k is padded with a zero.
static inline Bf16Pair pair_at(const Bf16* x, std::uint64_t k, std::uint64_t pair) {
  const Bf16 odd = 2 * pair + 1 < k ? x[2 * pair + 1] : Bf16{0};
  return static_cast<Bf16Pair>(x[2 * pair] | static_cast<Bf16Pair>(odd) << 16);
}

// Which NaN the sum of the pairs [first, last) is, once it is known to be NaN: a NaN factor
// replaces the sum, so the last one in order of addition wins, w before x; where no factor was NaN
// the processor made the default one. `x` is a row of k elements, `w_stride` the distance between
// the pairs of one output.
static inline std::uint32_t nan_of(const Bf16* x, std::uint64_t k, const Bf16Pair* w,
                                   std::uint64_t w_stride, std::uint64_t first,
                                   std::uint64_t last) {
  constexpr std::uint32_t kQuiet = 0x00400000u;
  for (std::uint64_t pair = last; pair-- > first;) {
    const Bf16Pair x_pair = pair_at(x, k, pair);
    const Bf16Pair w_pair = w[pair * w_stride];
    for (int shift = 16; shift >= 0; shift -= 16) {  // the even element was added last
      const std::uint32_t w_bits = w_pair << shift & 0xFFFF0000u;
      const std::uint32_t x_bits = x_pair << shift & 0xFFFF0000u;
      if (is_nan(static_cast<Bf16>(w_bits >> 16))) return w_bits | kQuiet;
      if (is_nan(static_cast<Bf16>(x_bits >> 16))) return x_bits | kQuiet;
    }
  }
  return kDefaultNan;
}

}  // namespace tare::kernels
