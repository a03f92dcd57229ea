// The instruction set of this folder, as panel.h and grouped.h take it. Of internal linkage: see
// panel.h.
#pragma once

#include <immintrin.h>
#include <cstddef>
#include <cstdint>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/avx512/vectors.h"
#include "kernels/cpu/chunk_sums.h"
#include "kernels/cpu/control_word.h"

namespace tare::kernels {
namespace {

struct Avx512Bf16 : Avx512Vectors {
  using Weights = __m512bh;
  using Activation = Bf16Pair;
  using Control = NoGuard;
  static constexpr std::size_t kSteps = 1;
  static constexpr Nan kNan = Nan::kAsLeft;

  // A loop of vectors: GCC 12 makes `rep movs` of memcpy, half the time of which is its start.
  static void arrange(const Bf16* x, std::uint64_t pairs, Activation* into) {
    for (std::uint64_t i = 0; i < pairs; i += kLanes) {
      const std::uint64_t left = pairs - i;
      const auto some = static_cast<__mmask16>(left < kLanes ? (1u << left) - 1 : 0xFFFFu);
      _mm512_mask_storeu_epi32(into + i, some, _mm512_maskz_loadu_epi32(some, x + 2 * i));
    }
  }
  // One step's weights of them.
  static Weights part(Pairs pairs, std::size_t) { return reinterpret_cast<__m512bh>(pairs); }
  static Weights weights(const Bf16Pair* from, std::size_t step) { return part(pairs(from), step); }
  static __m512bh broadcast(const Activation* x) {
    return reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(*x)));
  }
  static Vector multiply_add(Vector sum, Weights w, __m512bh x) {
    return _mm512_dpbf16_ps(sum, w, x);
  }
  // The same, where it is written: GCC 12 moves all decoding of a pair in front of it.
  static Vector multiply_add_here(Vector sum, Weights w, __m512bh x) {
    asm volatile("vdpbf16ps %[x], %[w], %[sum]" : [sum] "+v"(sum) : [w] "v"(w), [x] "v"(x));
    return sum;
  }
};

}  // namespace
}  // namespace tare::kernels
