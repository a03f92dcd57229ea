// The panel kernel on AVX2 and FMA: as on AVX-512F, with tiles for sixteen registers of eight
// lanes.
#include <immintrin.h>

#include "kernels/cpu/flush_subnormals.h"
#include "kernels/cpu/panel.h"
#include "kernels/cpu/paths.h"

namespace tare::kernels {
namespace {

struct Avx2 {
  using Vector = __m256;
  using Weights = __m256;
  using Activation = float;
  using Control = FlushSubnormals;
  static constexpr std::size_t kLanes = 8;
  static constexpr std::size_t kSteps = 2;
  static constexpr std::size_t kMostRows =
      6;  // 12 accumulators, 2 weights, x, a mask: all 16 registers
  static constexpr bool kKeepsNanPayload = false;

  // One row reads whole panels as one stream; more rows pay with narrower tiles for their reuse of
  // weights.
  static constexpr std::size_t columns(std::size_t rows) {
    return rows == 1 ? 8 : rows <= 3 ? 4 : 2;
  }
  static void arrange(const Bf16* x, std::uint64_t pairs, Activation* into) {
    for (std::uint64_t i = 0; i < 2 * pairs; ++i)
      into[i] = std::bit_cast<float>(static_cast<std::uint32_t>(x[i]) << 16);
  }
  static Weights weights(const Bf16Pair* from, std::size_t step) {
    const __m256i pairs = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return _mm256_castsi256_ps(
        step == 0 ? _mm256_and_si256(pairs, _mm256_set1_epi32(static_cast<int>(0xFFFF0000u)))
                  : _mm256_slli_epi32(pairs, 16));
  }
  static __m256 broadcast(const Activation* x) { return _mm256_set1_ps(*x); }
  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* into, Vector sum) { _mm256_storeu_ps(into, sum); }
  static Vector multiply_add(Vector sum, Weights w, __m256 x) {
    // The form that overwrites the sum, said outright: left to itself GCC 12 mixes forms, copies
    // and spills.
    asm("vfmadd231ps %[x], %[w], %[sum]" : [sum] "+x"(sum) : [w] "x"(w), [x] "x"(x));
    return sum;
  }
};

}  // namespace

const PanelPath kAvx2Panel{
    .name = "avx2",
    .isa = "AVX2 FMA",
    .tile = "6x16 f32 by two fused multiply-adds a pair",
    .scratch_bytes = &scratch_bytes<Avx2>,
    .run = &run_panels<Avx2>,
};

}  // namespace tare::kernels
