// What every instruction set with AVX-512 says alike, as panel.h and grouped.h take it: registers,
// and the arithmetic of plain f32. Of internal linkage: see panel.h.
#pragma once

#include <immintrin.h>
#include <cstddef>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/grouped_task.h"

namespace tare::kernels {
namespace {

struct Avx512Vectors {
  using Pair = Bf16Pair;
  using Pairs = __m512i;
  using Vector = __m512;
  static constexpr std::size_t kLanes = 16;
  static constexpr std::size_t kMostRows = 12;
  static constexpr std::size_t kWideRows = 6;
  static constexpr std::size_t kRegisters = 32;

  // A whole panel a pass where registers allow (24 sums, 4 weights, x and, where weights are
  // widened, a mask are 30 of 32): memory is then one stream. Beyond, tall tiles: they load (and
  // widen) a vector of weights for twice as many multiply-adds.
  static constexpr std::size_t columns(std::size_t rows) { return rows <= kWideRows ? 4 : 2; }
  static Pairs pairs(const Bf16Pair* from) { return _mm512_loadu_si512(from); }
  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* into, Vector sum) { _mm512_storeu_ps(into, sum); }

  // Of plain f32: a * b + sum rounded once, and one value in every lane.
  static Vector fused(Vector sum, Vector a, Vector b) { return _mm512_fmadd_ps(a, b, sum); }
  static Vector product(Vector a, Vector b) { return a * b; }
  static Vector plus(Vector a, Vector b) { return a + b; }
  static Vector minus(Vector a, Vector b) { return a - b; }
  static Vector spread(const float* value) { return _mm512_set1_ps(*value); }
  // Masks and operators: GCC 12 warns of its own plain forms (GCC bug 105593).
  static constexpr __mmask16 kAll = 0xFFFF;
  template <ScaleType Type>
  static Vector widened(const std::byte* from) {
    const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    if constexpr (Type == ScaleType::kF16) return _mm512_maskz_cvtph_ps(kAll, words);
    const auto wide = reinterpret_cast<__v16su>(_mm512_maskz_cvtepu16_epi32(kAll, words));
    return reinterpret_cast<__m512>(wide << 16);
  }
  template <bool Unsigned>
  static Vector bytes(const std::byte* from) {
    const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    if constexpr (Unsigned)
      return _mm512_maskz_cvtepi32_ps(kAll, _mm512_maskz_cvtepu8_epi32(kAll, all));
    return _mm512_maskz_cvtepi32_ps(kAll, _mm512_maskz_cvtepi8_epi32(kAll, all));
  }
};

}  // namespace
}  // namespace tare::kernels
