// bf16 and f16 to f32 and back, in integer arithmetic that every compiler turns into the same bits.
#pragma once

#include <bit>
#include <cstdint>

namespace tare::formats {

inline float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

// To nearest even; a NaN stays one.
inline std::uint16_t to_bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

// Exact: subnormals, infinities and NaN included.
inline float from_f16(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16U;
  const std::uint32_t magnitude = half & 0x7FFFU;
  if (magnitude >= 0x7C00U)
    return std::bit_cast<float>(sign | 0x7F800000U | (magnitude & 0x3FFU) << 13U);
  // Shifted into place the exponent is 112 too small; one exact product puts it right, subnormals
  // as well.
  const float value = std::bit_cast<float>(magnitude << 13U) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

// To nearest even; beyond f16 infinite; a NaN stays one.
inline std::uint16_t to_f16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U);
  if (magnitude >= 0x477FF000U) return static_cast<std::uint16_t>(sign | 0x7C00U);  // 65520
  if (magnitude < 0x38800000U) {
    // Subnormal: adding 0.5 leaves the rounded multiple of 2^-24 in the low bits.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) & 0x7FFU));
  }
  const std::uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13U) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13U));
}

}  // namespace tare::formats
