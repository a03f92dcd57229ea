// How codes become bf16 in plain C++, for grouped.h. Of internal linkage: see panel.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/panel_task.h"

namespace tare::kernels {
namespace {

struct ExpandPortable {
  static void int4(const std::byte* from, Bf16Pair* into) {
    for (std::size_t lane = 0; lane < 16; ++lane) {
      std::uint16_t word[2];
      std::memcpy(word, from + 4 * lane, sizeof word);
      for (std::size_t column = 0; column < 4; ++column) {
        const auto code = [&](std::uint16_t bits) {
          return (bits >> (4 * column) & 15) ^ 8;  // signed codes as 0 to 15
        };
        into[16 * column + lane] = pair_of(code(word[0]) - 8, code(word[1]) - 8);
      }
    }
  }

  static void int8(const std::byte* from, Bf16Pair* into) {
    for (std::size_t lane = 0; lane < kGroupedOutputs; ++lane) {
      const std::byte* codes = from + lane / 16 * 32 + lane % 16;
      into[lane] = pair_of(static_cast<std::int8_t>(codes[0]), static_cast<std::int8_t>(codes[16]));
    }
  }

 private:
  static Bf16Pair pair_of(int even, int odd) {
    return bf16_of(even) | static_cast<Bf16Pair>(bf16_of(odd)) << 16;
  }
  static Bf16 bf16_of(int code) {
    return static_cast<Bf16>(std::bit_cast<std::uint32_t>(static_cast<float>(code)) >> 16);
  }
};

}  // namespace
}  // namespace tare::kernels
