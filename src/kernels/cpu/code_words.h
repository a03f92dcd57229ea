// Where codes of fewer than 8 bits lie in words of 16 bits, for bf16 activations: the same for a
// lone word and for vectors of them. Word 2i + e of a unit's 64 bytes belongs to element e of a
// pair and to the outputs i, 16 + i, 32 + i, 48 + i of a panel: the four columns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/grouped_task.h"
#include "kernels/cpu/tile.h"

namespace tare::kernels {

// Pairs of k that share bytes, and the bytes of a unit of them.
//
//   4 bits  one pair: column c in bits 4c to 4c + 3
//   5 bits  four pairs, 64 bytes each: columns 0 to 2 in bits 5c to 5c + 4, bit 4 of column 3 in
//           bit 15; then 64 bytes with the rest of column 3: that of pair p in bits 4p to 4p + 3
//   6 bits  two pairs, 64 bytes each: columns 0 and 1 in bits 6c to 6c + 5, bits 0 to 3 of column 3
//           above them; then 64 bytes: column 2 of pair p in bits 6p to 6p + 5, bits 4 and 5 of its
//           column 3 in bits 12 + 2p and 13 + 2p
//   8 bits  one pair, a byte each at place_of_byte(): magnitude and sign (-128 is a sign without a
//           magnitude), so that tables of 128 will do
template <unsigned Bits>
inline constexpr std::size_t kUnitPairs = Bits == 5   ? 4
                                          : Bits == 6 ? 2
                                                      : 1;
template <unsigned Bits>
inline constexpr std::size_t kUnitBytes = kGroupedOutputs * 2 * Bits / 8 * kUnitPairs<Bits>;

// Of element `e` of output `j`: interleaving the bytes of a lane of 16 with others gives two
// columns' pairs.
static inline constexpr std::size_t place_of_byte(std::size_t j, std::size_t e) {
  const std::size_t column = j / 16, own = j % 16;
  return column / 2 * kLineBytes + own / 4 * 16 + column % 2 * 8 + own % 4 * 2 + e;
}

// Words whose lowest bits are a column's codes of pair `pair` of a unit; what lies above is
// anything. `own`: of the pair's 64 bytes, `shared`: of the unit's last (4 bits: not read).
template <unsigned Bits, typename Words>
[[gnu::always_inline]] static inline Words code_words(const Words& own, const Words& shared,
                                                      std::size_t pair, std::size_t column) {
  const int p = static_cast<int>(pair), c = static_cast<int>(column);
  if constexpr (Bits == 4) {
    return own >> (4 * c);
  } else if constexpr (Bits == 5) {
    if (column < 3) return own >> (5 * c);
    return ((shared >> (4 * p)) & 15) | ((own >> 11) & 16);
  } else {
    if (column < 2) return own >> (6 * c);
    if (column == 2) return shared >> (6 * p);
    return (own >> 12) | ((shared >> (8 + 2 * p)) & 48);
  }
}

}  // namespace tare::kernels
