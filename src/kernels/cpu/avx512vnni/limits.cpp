// Multiply-adds of 8-bit numbers by vpdpbusd on AVX-512 VNNI.
#include <immintrin.h>

#include "kernels/cpu/limit_kernels.h"
#include "kernels/cpu/peak.h"

namespace tare::kernels {
namespace {

struct Int8Dot {
  using Vector = __m512i;
  static constexpr std::uint64_t kMultiplyAdds = 64;
  static Vector sum_of(float value) { return _mm512_set1_epi32(static_cast<int>(value)); }
  static Vector factor(float value) { return _mm512_set1_epi8(static_cast<char>(2 * value)); }
  // Said outright, as in avx512vnni/rounded.cpp: left to itself GCC 12 copies and spills sums.
  static Vector multiply_add(Vector sum, Vector a, Vector b) {
    asm("vpdpbusd %[b], %[a], %[sum]" : [sum] "+v"(sum) : [a] "v"(a), [b] "v"(b));
    return sum;
  }
  static float lowest(Vector sum) { return static_cast<float>(_mm512_cvtsi512_si32(sum)); }
};

}  // namespace

float avx512vnni::multiply_add_int8(std::uint64_t multiply_adds) {
  return run_peak<Int8Dot, 24>(multiply_adds);
}

}  // namespace tare::kernels
