// How codes become bf16 on AVX2, for grouped.h. Of internal linkage: see panel.h.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/code_words.h"

namespace tare::kernels {
namespace {

struct ExpandAvx2 {
  template <unsigned Bits>
  static void expand(const std::byte* unit, Bf16Pair* into) {
    for (std::size_t pair = 0; pair < kUnitPairs<Bits>; ++pair, into += kGroupedOutputs) {
      if constexpr (Bits == 8) {
        for (std::size_t quarter = 0; quarter < 4; ++quarter)
          expand8(load(unit + 32 * quarter), into + 32 * (quarter / 2) + 8 * (quarter % 2));
      } else {
        for (std::size_t half = 0; half < 2; ++half)
          expand_words<Bits>(unit + 32 * half, pair, into + 8 * half);
      }
    }
  }

 private:
  static __m256i load(const std::byte* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }

  // Eight outputs of each column. Element 0 and element 1 of an output are the halves of a lane:
  // shifts bring their codes to its top, where an arithmetic shift extends the sign.
  template <unsigned Bits>
  static void expand_words(const std::byte* unit, std::size_t pair, Bf16Pair* into) {
    const auto own = reinterpret_cast<__v16hu>(load(unit + pair * kLineBytes));
    const auto shared = reinterpret_cast<__v16hu>(load(unit + kUnitBytes<Bits> - kLineBytes));
#pragma GCC unroll 4
    for (std::size_t c = 0; c < 4; ++c) {
      const auto words = reinterpret_cast<__m256i>(code_words<Bits>(own, shared, pair, c));
      constexpr int kBits = Bits;
      store(into + 16 * c, _mm256_srai_epi32(_mm256_slli_epi32(words, 32 - kBits), 32 - kBits),
            _mm256_srai_epi32(_mm256_slli_epi32(words, 16 - kBits), 32 - kBits));
    }
  }

  // Eight outputs of two columns. Each word has its code twice.
  static void expand8(__m256i codes, Bf16Pair* into) {
    const __m256i sign = _mm256_set1_epi8(static_cast<char>(0x80));
    const __m256i magnitudes = _mm256_andnot_si256(sign, codes);
    // vpsignb leaves -128, a sign without a magnitude, at zero: put back.
    const __m256i least = _mm256_and_si256(_mm256_cmpeq_epi8(codes, sign), sign);
    const __m256i numbers = _mm256_or_si256(
        _mm256_sign_epi8(magnitudes, _mm256_or_si256(codes, _mm256_set1_epi8(1))), least);
    put_pairs(_mm256_unpacklo_epi8(numbers, numbers), into);
    put_pairs(_mm256_unpackhi_epi8(numbers, numbers), into + 16);
  }
  static void put_pairs(__m256i words, Bf16Pair* into) {
    store(into, _mm256_srai_epi32(_mm256_slli_epi32(words, 16), 24), _mm256_srai_epi32(words, 24));
  }

  // Small integers: the upper half of their f32 is their bf16.
  static void store(Bf16Pair* into, __m256i even, __m256i odd) {
    const __m256i low = _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(even)), 16);
    const __m256i high = _mm256_castps_si256(_mm256_cvtepi32_ps(odd));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(into), _mm256_blend_epi16(low, high, 0xAA));
  }
};

}  // namespace
}  // namespace tare::kernels
