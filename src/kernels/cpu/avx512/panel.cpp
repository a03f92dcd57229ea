// The panel kernel on AVX-512F: a pair is two fused multiply-adds in f32, the odd element first.
// The same bits as vdpbf16ps, and on processors that run that instruction at half the pace of their
// two multiply-add ports, faster.
#include <immintrin.h>

#include "kernels/cpu/flush_subnormals.h"
#include "kernels/cpu/panel.h"
#include "kernels/cpu/paths.h"

namespace tare::kernels {
namespace {

struct Avx512 {
  using Vector = __m512;
  using Weights = __m512;
  using Activation = float;
  using Control = FlushSubnormals;
  static constexpr std::size_t kLanes = 16;
  static constexpr std::size_t kSteps = 2;
  static constexpr std::size_t kMostRows = 12;
  static constexpr bool kKeepsNanPayload = false;

  // A whole panel a pass where registers allow (24 sums, 4 weights, x and a mask are 30 of 32):
  // memory is then one stream. Beyond, tall tiles: they load (and widen) a vector of weights for
  // twice as many multiply-adds.
  static constexpr std::size_t columns(std::size_t rows) { return rows <= 6 ? 4 : 2; }
  static void arrange(const Bf16* x, std::uint64_t pairs, Activation* into) {
    for (std::uint64_t i = 0; i < 2 * pairs; ++i)
      into[i] = std::bit_cast<float>(static_cast<std::uint32_t>(x[i]) << 16);
  }
  static Weights weights(const Bf16Pair* from, std::size_t step) {
    // Operators on lanes: GCC 12 warns of its own _mm512_slli_epi32 (GCC bug 105593).
    const auto pairs = reinterpret_cast<__v16su>(_mm512_loadu_si512(from));
    return reinterpret_cast<__m512>(step == 0 ? pairs & 0xFFFF0000u : pairs << 16);
  }
  static __m512 broadcast(const Activation* x) { return _mm512_set1_ps(*x); }
  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* into, Vector sum) { _mm512_storeu_ps(into, sum); }
  static Vector multiply_add(Vector sum, Weights w, __m512 x) {
    // The form that overwrites the sum, said outright: left to itself GCC 12 mixes forms, copies
    // and spills.
    asm("vfmadd231ps %[x], %[w], %[sum]" : [sum] "+v"(sum) : [w] "v"(w), [x] "v"(x));
    return sum;
  }
};

}  // namespace

const PanelPath kAvx512Panel{
    .name = "avx512",
    .isa = "AVX-512",
    .tile = "6x64 or 12x32 f32 by two fused multiply-adds a pair",
    .scratch_bytes = &scratch_bytes<Avx512>,
    .run = &run_panels<Avx512>,
};

}  // namespace tare::kernels
