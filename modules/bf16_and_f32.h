// Of libraries that take x in f32 or leave f32 sums: x and y as they and the problem want them, by
// the arm.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tare::modules {

// f32 to bf16, to nearest even; a NaN stays one. Plain integers, which the compiler vectorises.
inline void round_to_bf16(const float* sums, std::uint16_t* y, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(sums[i]);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const std::uint32_t quiet_nan = (bits >> 16) | 0x40u;
    y[i] = static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet_nan : rounded);
  }
}

// The same of [rows, bias.size()] sums, to each row of which the bias is added first; of an empty
// bias, of `count` sums as they are. The pass is there anyhow, so that the addition costs no other.
inline void round_with_bias(const float* sums, std::uint16_t* y, std::size_t count,
                            std::span<const float> bias) {
  if (bias.empty()) return round_to_bf16(sums, y, count);
  constexpr std::size_t kSome = 256;
  float some[kSome];
  for (std::size_t row = 0; row < count; row += bias.size())
    for (std::size_t first = 0; first < bias.size(); first += kSome) {
      const std::size_t length = std::min(kSome, bias.size() - first);
      for (std::size_t i = 0; i < length; ++i) some[i] = sums[row + first + i] + bias[first + i];
      round_to_bf16(some, y + row + first, length);
    }
}

// bf16 to f32, exactly.
inline void widen_bf16(const std::uint16_t* x, float* wide, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    wide[i] = std::bit_cast<float>(static_cast<std::uint32_t>(x[i]) << 16);
}

}  // namespace tare::modules
