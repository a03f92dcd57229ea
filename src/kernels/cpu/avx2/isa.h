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

struct Avx2 {
  using Pair = Bf16Pair;
  using Vector = __m256;
  using Weights = __m256;
  using Activation = float;
  using Control = FlushSubnormals;
  static constexpr std::size_t kLanes = 8;
  static constexpr std::size_t kSteps = 2;
  static constexpr std::size_t kMostRows =
      6;  // 12 accumulators, 2 weights, x, a mask: all 16 registers
  static constexpr Nan kNan = Nan::kLookedUp;
  static constexpr std::size_t kWideRows = 1;
  static constexpr std::size_t kRegisters = 16;

  // One row reads whole panels as one stream; more rows pay with narrower tiles for their reuse of
  // weights.
  static constexpr std::size_t columns(std::size_t rows) {
    return rows == 1 ? 8 : rows <= 3 ? 4 : 2;
  }
  static void arrange(const Bf16* x, std::uint64_t pairs, Activation* into) {
    widen_unflushed(x, 2 * pairs, into);  // the control word flushes
  }
  using Pairs = __m256i;
  static Pairs pairs(const Bf16Pair* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  // One step's weights of them.
  static Weights part(Pairs pairs, std::size_t step) {
    return _mm256_castsi256_ps(
        step == 0 ? _mm256_and_si256(pairs, _mm256_set1_epi32(static_cast<int>(0xFFFF0000u)))
                  : _mm256_slli_epi32(pairs, 16));
  }
  static Weights weights(const Bf16Pair* from, std::size_t step) { return part(pairs(from), step); }
  static __m256 broadcast(const Activation* x) { return _mm256_set1_ps(*x); }
  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* into, Vector sum) { _mm256_storeu_ps(into, sum); }
  static Vector multiply_add(Vector sum, Weights w, __m256 x) {
    // The form that overwrites the sum, said outright: left to itself GCC 12 mixes forms, copies
    // and spills.
    asm("vfmadd231ps %[x], %[w], %[sum]" : [sum] "+x"(sum) : [w] "x"(w), [x] "x"(x));
    return sum;
  }

  // Of plain f32: a * b + sum rounded once, and one value in every lane.
  static Vector fused(Vector sum, Vector a, Vector b) { return _mm256_fmadd_ps(a, b, sum); }
  static Vector product(Vector a, Vector b) { return a * b; }
  static Vector plus(Vector a, Vector b) { return a + b; }
  static Vector minus(Vector a, Vector b) { return a - b; }
  static Vector spread(const float* value) { return _mm256_set1_ps(*value); }
  template <ScaleType Type>
  static Vector widened(const std::byte* from) {
    const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    if constexpr (Type == ScaleType::kF16) return _mm256_cvtph_ps(words);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(words), 16));
  }
  template <bool Unsigned>
  static Vector bytes(const std::byte* from) {
    const __m128i all = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return _mm256_cvtepi32_ps(Unsigned ? _mm256_cvtepu8_epi32(all) : _mm256_cvtepi8_epi32(all));
  }
};

}  // namespace
}  // namespace tare::kernels
