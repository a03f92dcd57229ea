// How codes become bf16 on AVX-512 (F and BW), for grouped.h. Of internal linkage: see panel.h.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/code_tables.h"
#include "kernels/cpu/code_words.h"

namespace tare::kernels {
namespace {

// Codes of up to 6 bits: vpermw and vpermt2w look a word up by its low 5 or 6 bits, whatever lies
// above them.
template <unsigned Bits, std::size_t First, std::size_t Columns>
[[gnu::always_inline]] inline void look_up(const std::byte* unit, std::size_t pair,
                                           __m512i (&into)[Columns]) {
  constexpr std::size_t kShared = kUnitBytes<Bits> - kLineBytes;
  const auto words = [&](std::size_t at) {
    return reinterpret_cast<__v32hu>(_mm512_loadu_si512(unit + at));
  };
  const __v32hu own = words(pair * kLineBytes), shared = words(kShared);
  const __m512i table = _mm512_load_si512(kCodeTable<Bits>.word);
#pragma GCC unroll 4
  for (std::size_t c = 0; c < Columns; ++c) {
    const auto codes = reinterpret_cast<__m512i>(code_words<Bits>(own, shared, pair, First + c));
    if constexpr (Bits == 6) {
      into[c] =
          _mm512_permutex2var_epi16(table, codes, _mm512_load_si512(kCodeTable<Bits>.word + 32));
    } else {
      into[c] = _mm512_maskz_permutexvar_epi16(~__mmask32{0}, codes, table);
    }
  }
}

struct ExpandAvx512 {
  // Rows up to which decoding in every tile beats expanding a block once.
  template <unsigned Bits>
  static constexpr std::uint64_t most_direct_rows() {
    return Bits == 8 ? 12 : ~std::uint64_t{0};
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

  template <unsigned Bits>
  static void expand(const std::byte* unit, Bf16Pair* into) {
#pragma GCC unroll 4
    for (std::size_t pair = 0; pair < kUnitPairs<Bits>; ++pair) {
      __m512i all[4];
      decode<Bits, 0>(unit, pair, all);
#pragma GCC unroll 4
      for (std::size_t c = 0; c < 4; ++c) _mm512_storeu_si512(into + 16 * c, all[c]);
      into += kGroupedOutputs;
    }
  }

 private:
  // GCC 12 warns of its own unmasked conversions (GCC bug 105593); these compile to the same.
  static constexpr __mmask16 kAll = 0xFFFF;

  // Two columns. By way of f32, whose upper half a small integer's bf16 is.
  static void decode8(const std::byte* from, __m512i& even_column, __m512i& odd_column) {
    const __m512i codes = _mm512_loadu_si512(from);
    const __m512i magnitudes = _mm512_and_si512(codes, _mm512_set1_epi8(0x7F));
    const __mmask64 below = _mm512_movepi8_mask(codes);
    // A sign without a magnitude is -128, which its own negative also is.
    const __m512i least = _mm512_or_si512(
        magnitudes,
        _mm512_maskz_set1_epi8(_mm512_mask_testn_epi8_mask(below, magnitudes, magnitudes),
                               static_cast<char>(0x80)));
    const __m512i numbers = _mm512_mask_sub_epi8(least, below, _mm512_setzero_si512(), least);
    even_column = pairs_of(_mm512_unpacklo_epi8(numbers, numbers));
    odd_column = pairs_of(_mm512_unpackhi_epi8(numbers, numbers));
  }
  // Each word has its code twice.
  static __m512i pairs_of(__m512i words) {
    const auto lanes = reinterpret_cast<__v16si>(words);
    const auto even = as_f32((lanes << 16) >> 24), odd = as_f32(lanes >> 24);
    return reinterpret_cast<__m512i>((even >> 16) | (odd & 0xFFFF0000u));
  }
  static __v16su as_f32(__v16si codes) {
    return reinterpret_cast<__v16su>(
        _mm512_maskz_cvtepi32_ps(kAll, reinterpret_cast<__m512i>(codes)));
  }
};

}  // namespace
}  // namespace tare::kernels
