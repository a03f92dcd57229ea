// Of libraries that take x in f32 or leave f32 sums: x and y as they and the problem want them, by
// the arm.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

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

// bf16 to f32, exactly.
inline void widen_bf16(const std::uint16_t* x, float* wide, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    wide[i] = std::bit_cast<float>(static_cast<std::uint32_t>(x[i]) << 16);
}

}  // namespace tare::modules
