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

struct Avx512 : Avx512Vectors {
  using Weights = __m512;
  using Activation = float;
  using Control = FlushSubnormals;
  static constexpr std::size_t kSteps = 2;
  static constexpr Nan kNan = Nan::kLookedUp;

  static void arrange(const Bf16* x, std::uint64_t pairs, Activation* into) {
    widen_unflushed(x, 2 * pairs, into);  // the control word flushes
  }
  // One step's weights of them.
  static Weights part(Pairs bits, std::size_t step) {
    // Operators on lanes: GCC 12 warns of its own _mm512_slli_epi32 (GCC bug 105593).
    const auto words = reinterpret_cast<__v16su>(bits);
    return reinterpret_cast<__m512>(step == 0 ? words & 0xFFFF0000u : words << 16);
  }
  static Weights weights(const Bf16Pair* from, std::size_t step) { return part(pairs(from), step); }
  static __m512 broadcast(const Activation* x) { return _mm512_set1_ps(*x); }
  static Vector multiply_add(Vector sum, Weights w, __m512 x) {
    // The form that overwrites the sum, said outright: left to itself GCC 12 mixes forms, copies
    // and spills.
    asm("vfmadd231ps %[x], %[w], %[sum]" : [sum] "+v"(sum) : [w] "v"(w), [x] "v"(x));
    return sum;
  }
  static Vector multiply_add_here(Vector sum, Weights w, __m512 x) {
    return multiply_add(sum, w, x);
  }
};

}  // namespace
}  // namespace tare::kernels
