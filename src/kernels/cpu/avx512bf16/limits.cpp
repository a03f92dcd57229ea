// Multiply-adds by vdpbf16ps. Reading is avx512/'s business.
#include <immintrin.h>

#include "kernels/cpu/limit_kernels.h"
#include "kernels/cpu/peak.h"

namespace tare::kernels {
namespace {

struct Dot {
  using Vector = __m512;
  static constexpr std::uint64_t kMultiplyAdds = 32;
  static Vector sum_of(float value) { return _mm512_set1_ps(value); }
  static __m512bh factor(float value) {
    return _mm512_cvtne2ps_pbh(_mm512_set1_ps(value), _mm512_set1_ps(value));
  }
  static Vector multiply_add(Vector sum, __m512bh a, __m512bh b) {
    return _mm512_dpbf16_ps(sum, a, b);
  }
  static float lowest(Vector sum) { return _mm512_cvtss_f32(sum); }
};

}  // namespace

float avx512bf16::multiply_add(std::uint64_t multiply_adds) {
  return run_peak<Dot, 24>(multiply_adds);
}

}  // namespace tare::kernels
