// How codes become bf16 on AVX2, for grouped.h. Of internal linkage: see panel.h.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/panel_task.h"

namespace tare::kernels {
namespace {

struct ExpandAvx2 {
  // Words of 16 bits: element 0 and element 1 of an output are the halves of a 32-bit lane, and
  // four shifts bring the four columns' codes to their top, where an arithmetic shift extends the
  // sign.
  static void int4(const std::byte* from, Bf16Pair* into) {
    for (std::size_t half = 0; half < 2; ++half) {
      const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 32 * half));
      put(words, 28, 12, into + 8 * half);
      put(words, 24, 8, into + 16 + 8 * half);
      put(words, 20, 4, into + 32 + 8 * half);
      put(words, 16, 0, into + 48 + 8 * half);
    }
  }

  static void int8(const std::byte* from, Bf16Pair* into) {
    for (std::size_t lane = 0; lane < kGroupedOutputs; lane += 8) {
      const std::byte* codes = from + lane / 16 * 32 + lane % 16;
      store(into + lane, extended(codes), extended(codes + 16));
    }
  }

 private:
  static __m256i extended(const std::byte* from) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  }
  // Small integers: the upper half of their f32 is their bf16.
  static void store(Bf16Pair* into, __m256i even, __m256i odd) {
    const __m256i low = _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(even)), 16);
    const __m256i high = _mm256_castps_si256(_mm256_cvtepi32_ps(odd));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(into), _mm256_blend_epi16(low, high, 0xAA));
  }
  static void put(__m256i words, int even, int odd, Bf16Pair* into) {
    store(into, _mm256_srai_epi32(_mm256_slli_epi32(words, even), 28),
          _mm256_srai_epi32(_mm256_slli_epi32(words, odd), 28));
  }
};

}  // namespace
}  // namespace tare::kernels
