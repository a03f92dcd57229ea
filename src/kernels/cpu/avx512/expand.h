// How codes become bf16 on AVX-512 (F and BW), for grouped.h. Of internal linkage: see panel.h.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/panel_task.h"

namespace tare::kernels {
namespace {

struct ExpandAvx512 {
  using Pairs = __m512i;  // 16 Bf16Pair
  using DecodesDirectly = void;

  // Rows up to which decoding in every tile of six rows beats expanding a block once.
  template <unsigned Bits>
  static constexpr std::uint64_t most_direct_rows() {
    return Bits == 4 ? ~std::uint64_t{0} : 20;
  }

  // One pair of 64 outputs, as packed, in four vectors.
  template <unsigned Bits>
  static void decode(const std::byte* from, Pairs (&into)[4]) {
    if constexpr (Bits == 4) {
      decode4(from, into);
    } else {
      decode8(from, into);
    }
  }

  static void int4(const std::byte* from, Bf16Pair* into) { store<4>(from, into); }
  static void int8(const std::byte* from, Bf16Pair* into) { store<8>(from, into); }

 private:
  // GCC 12 warns of its own unmasked conversions (GCC bug 105593); these compile to the same.
  static constexpr __mmask16 kAll = 0xFFFF;

  template <unsigned Bits>
  static void store(const std::byte* from, Bf16Pair* into) {
    Pairs all[4];
    decode<Bits>(from, all);
    for (std::size_t c = 0; c < 4; ++c) _mm512_storeu_si512(into + 16 * c, all[c]);
  }

  // A table of 32 words, looked up by the low five bits of each word: both halves are the same, so
  // that the bit above a code need not be masked. Codes are signed: 0 to 7, then -8 to -1.
  static void decode4(const std::byte* from, Pairs (&into)[4]) {
    alignas(64) static constexpr Bf16 kTable[32] = {
        0x0000, 0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0, 0x40E0, 0xC100, 0xC0E0, 0xC0C0,
        0xC0A0, 0xC080, 0xC040, 0xC000, 0xBF80, 0x0000, 0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0,
        0x40C0, 0x40E0, 0xC100, 0xC0E0, 0xC0C0, 0xC0A0, 0xC080, 0xC040, 0xC000, 0xBF80};
    const __m512i table = _mm512_load_si512(kTable);
    const auto codes = reinterpret_cast<__v32hu>(_mm512_loadu_si512(from));
#pragma GCC unroll 4
    for (std::size_t c = 0; c < 4; ++c)
      into[c] = _mm512_maskz_permutexvar_epi16(~__mmask32{0},
                                               reinterpret_cast<__m512i>(codes >> (4 * c)), table);
  }

  // By way of f32, whose upper half a small integer's bf16 is.
  static void decode8(const std::byte* from, Pairs (&into)[4]) {
    const auto upper = [](__m512i bits) { return reinterpret_cast<__v16su>(bits); };
#pragma GCC unroll 4
    for (std::size_t c = 0; c < 4; ++c) {
      const __m512i even = as_f32(from + 32 * c);
      const __m512i odd = as_f32(from + 32 * c + 16);
      into[c] = reinterpret_cast<__m512i>((upper(even) >> 16) | (upper(odd) & 0xFFFF0000u));
    }
  }

  static __m512i as_f32(const std::byte* from) {
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm512_castps_si512(
        _mm512_maskz_cvtepi32_ps(kAll, _mm512_maskz_cvtepi8_epi32(kAll, codes)));
  }
};

}  // namespace
}  // namespace tare::kernels
