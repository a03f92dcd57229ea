// The bf16 of small codes, for instruction sets that look them up.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/bf16_arithmetic.h"

namespace tare::kernels {

// A small integer's bf16 is the upper half of its f32.
static inline constexpr Bf16 bf16_of_code(int code) {
  return static_cast<Bf16>(std::bit_cast<std::uint32_t>(static_cast<float>(code)) >> 16);
}

// By the bits of a signed code. Of 4 bits twice over, so that the bit above a code need not be
// masked.
template <std::size_t Words>
struct WordTable {
  alignas(64) Bf16 word[Words];
};
template <unsigned Bits>
static inline constexpr auto make_code_table() {
  WordTable<(Bits == 6 ? 64 : 32)> table{};
  constexpr int kCodes = 1 << Bits;
  for (int i = 0; i < static_cast<int>(sizeof table.word / sizeof(Bf16)); ++i) {
    const int code = i % kCodes;
    table.word[i] = bf16_of_code(code < kCodes / 2 ? code : code - kCodes);
  }
  return table;
}
template <unsigned Bits>
inline constexpr auto kCodeTable = make_code_table<Bits>();

// The two bytes of a magnitude's bf16, by its 7 bits.
struct ByteTables {
  alignas(64) std::uint8_t low[128];
  alignas(64) std::uint8_t high[128];
};
static inline constexpr ByteTables make_magnitude_tables() {
  ByteTables tables{};
  for (int i = 0; i < 128; ++i) {
    tables.low[i] = static_cast<std::uint8_t>(bf16_of_code(i) & 255);
    tables.high[i] = static_cast<std::uint8_t>(bf16_of_code(i) >> 8);
  }
  return tables;
}
inline constexpr ByteTables kMagnitudes = make_magnitude_tables();

}  // namespace tare::kernels
