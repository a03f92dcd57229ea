// The instruction set of this folder, as panel.h and grouped.h take it. Of internal linkage: see
// panel.h.
#pragma once

#include <immintrin.h>
#include <cstddef>
#include <cstdint>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/chunk_sums.h"
#include "kernels/cpu/control_word.h"
#include "kernels/cpu/grouped_task.h"

namespace tare::kernels {
namespace {

struct Avx512Bf16 {
  using Pair = Bf16Pair;
  using Vector = __m512;
  using Weights = __m512bh;
  using Activation = Bf16Pair;
  using Control = NoGuard;
  static constexpr std::size_t kLanes = 16;
  static constexpr std::size_t kSteps = 1;
  static constexpr std::size_t kMostRows = 12;
  static constexpr Nan kNan = Nan::kAsLeft;
  static constexpr std::size_t kWideRows = 6;
  static constexpr std::size_t kRegisters = 32;

  // A whole panel a pass where registers allow (24 sums, 4 weights and x are 29 of 32): memory is
  // then one stream. Beyond, tall tiles: they load a vector of weights for twice as many
  // multiply-adds.
  static constexpr std::size_t columns(std::size_t rows) { return rows <= kWideRows ? 4 : 2; }
  // A loop of vectors: GCC 12 makes `rep movs` of memcpy, half the time of which is its start.
  static void arrange(const Bf16* x, std::uint64_t pairs, Activation* into) {
    for (std::uint64_t i = 0; i < pairs; i += kLanes) {
      const std::uint64_t left = pairs - i;
      const auto some = static_cast<__mmask16>(left < kLanes ? (1u << left) - 1 : 0xFFFFu);
      _mm512_mask_storeu_epi32(into + i, some, _mm512_maskz_loadu_epi32(some, x + 2 * i));
    }
  }
  using Pairs = __m512i;
  static Pairs pairs(const Bf16Pair* from) { return _mm512_loadu_si512(from); }
  // One step's weights of them.
  static Weights part(Pairs pairs, std::size_t) { return reinterpret_cast<__m512bh>(pairs); }
  static Weights weights(const Bf16Pair* from, std::size_t step) { return part(pairs(from), step); }
  static __m512bh broadcast(const Activation* x) {
    return reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(*x)));
  }
  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* into, Vector sum) { _mm512_storeu_ps(into, sum); }
  static Vector multiply_add(Vector sum, Weights w, __m512bh x) {
    return _mm512_dpbf16_ps(sum, w, x);
  }
  // The same, where it is written: GCC 12 moves all decoding of a pair in front of it.
  static Vector multiply_add_here(Vector sum, Weights w, __m512bh x) {
    asm volatile("vdpbf16ps %[x], %[w], %[sum]" : [sum] "+v"(sum) : [w] "v"(w), [x] "v"(x));
    return sum;
  }

  // Of plain f32: a * b + sum rounded once, and one value in every lane.
  static Vector fused(Vector sum, Vector a, Vector b) { return _mm512_fmadd_ps(a, b, sum); }
  static Vector product(Vector a, Vector b) { return a * b; }
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
