// Little-endian numbers that lie in a file's bytes, wherever they begin.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "formats/half.h"
#include "tare/arm.h"

namespace tare::load {

inline std::uint32_t word_at(std::span<const std::uint8_t> bytes, std::uint64_t index) {
  std::uint32_t word;
  std::memcpy(&word, bytes.data() + 4 * index, sizeof word);
  return word;
}

inline std::uint16_t half_word_at(std::span<const std::uint8_t> bytes, std::uint64_t index) {
  std::uint16_t word;
  std::memcpy(&word, bytes.data() + 2 * index, sizeof word);
  return word;
}

inline std::uint64_t number_bytes(std::uint32_t type) {
  return type == TARE_F32 ? 4 : 2;
}

// `type`: TARE_BF16, TARE_F16 or TARE_F32.
inline float number_at(std::span<const std::uint8_t> bytes, std::uint64_t index,
                       std::uint32_t type) {
  if (type == TARE_F32) {
    const std::uint32_t word = word_at(bytes, index);
    return std::bit_cast<float>(word);
  }
  const std::uint16_t word = half_word_at(bytes, index);
  return type == TARE_F16 ? formats::from_f16(word) : formats::from_bf16(word);
}

}  // namespace tare::load
