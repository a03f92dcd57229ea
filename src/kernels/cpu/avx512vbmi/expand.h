// How codes become bf16 on AVX-512 VBMI, for grouped.h: what avx512/expand.h does, but 8-bit codes
// by tables of bytes. Of internal linkage: see panel.h.
#pragma once

#include "kernels/cpu/avx512/expand.h"

namespace tare::kernels {
namespace {

struct ExpandVbmi {
  template <unsigned Bits>
  static constexpr std::uint64_t most_direct_rows() {
    return ~std::uint64_t{0};
  }

  template <unsigned Bits, std::size_t First, std::size_t Columns>
  [[gnu::always_inline]] static void decode(const std::byte* unit, std::size_t pair,
                                            __m512i (&into)[Columns]) {
    if constexpr (Bits == 8) {
#pragma GCC unroll 2
      for (std::size_t half = 0; half < Columns / 2; ++half)
        decode8(unit + (First / 2 + half) * kLineBytes, into[2 * half], into[2 * half + 1]);
    } else {
      look_up<Bits, First>(unit, pair, into);
    }
  }

 private:
  // Two columns: seven instructions for 64 codes. vpermi2b looks up a magnitude, whatever the sign
  // above it; a sign without a magnitude is -128.
  [[gnu::always_inline]] static void decode8(const std::byte* from, __m512i& even_column,
                                             __m512i& odd_column) {
    const __m512i codes = _mm512_loadu_si512(from);
    const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80));
    const __m512i least = _mm512_set1_epi8(static_cast<char>(0xC3));  // of -128
    const __m512i low = _mm512_permutex2var_epi8(_mm512_load_si512(kMagnitudes.low), codes,
                                                 _mm512_load_si512(kMagnitudes.low + 64));
    __m512i high = _mm512_permutex2var_epi8(_mm512_load_si512(kMagnitudes.high), codes,
                                            _mm512_load_si512(kMagnitudes.high + 64));
    constexpr int kOrOfAnd = 0xF8;  // a | (b & c)
    high = _mm512_ternarylogic_epi64(high, codes, sign, kOrOfAnd);
    high = _mm512_mask_mov_epi8(high, _mm512_cmpeq_epi8_mask(codes, sign), least);
    even_column = _mm512_unpacklo_epi8(low, high);
    odd_column = _mm512_unpackhi_epi8(low, high);
  }
};

}  // namespace
}  // namespace tare::kernels
