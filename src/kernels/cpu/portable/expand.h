// How codes become bf16 in plain C++, for grouped.h. Of internal linkage: see panel.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/code_tables.h"
#include "kernels/cpu/code_words.h"

namespace tare::kernels {
namespace {

struct ExpandPortable {
  template <unsigned Bits>
  static void expand(const std::byte* unit, Bf16Pair* into) {
    for (std::size_t pair = 0; pair < kUnitPairs<Bits>; ++pair, into += kGroupedOutputs)
      for (std::size_t j = 0; j < kGroupedOutputs; ++j) {
        const Bf16 even = bf16_of_code(code<Bits>(unit, pair, j, 0));
        const Bf16 odd = bf16_of_code(code<Bits>(unit, pair, j, 1));
        into[j] = even | static_cast<Bf16Pair>(odd) << 16;
      }
  }

 private:
  // Element `e` of a pair of output `j`.
  template <unsigned Bits>
  static int code(const std::byte* unit, std::size_t pair, std::size_t j, std::size_t e) {
    if constexpr (Bits == 8) {
      const auto byte = static_cast<unsigned>(unit[place_of_byte(j, e)]);
      const int magnitude = byte == 0x80 ? 128 : static_cast<int>(byte & 0x7F);
      return byte < 0x80 ? magnitude : -magnitude;
    } else {
      const auto word = [&](std::size_t at) {
        std::uint16_t bits;
        std::memcpy(&bits, unit + at + 2 * (j % 16 * 2 + e), sizeof bits);
        return static_cast<unsigned>(bits);
      };
      const unsigned bits = code_words<Bits>(word(pair * kLineBytes),
                                             word(kUnitBytes<Bits> - kLineBytes), pair, j / 16);
      constexpr int kHalf = 1 << (Bits - 1);
      return (static_cast<int>(bits & (2 * kHalf - 1)) ^ kHalf) - kHalf;
    }
  }
};

}  // namespace
}  // namespace tare::kernels
