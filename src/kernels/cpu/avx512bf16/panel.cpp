// The panel kernel on vdpbf16ps: one instruction a pair, which flushes subnormals and rounds by
// itself.
#include <immintrin.h>

#include <cstring>

#include "kernels/cpu/panel.h"
#include "kernels/cpu/paths.h"

namespace tare::kernels {
namespace {

struct NoControl {};

struct Avx512Bf16 {
  using Vector = __m512;
  using Weights = __m512bh;
  using Activation = Bf16Pair;
  using Control = NoControl;
  static constexpr std::size_t kLanes = 16;
  static constexpr std::size_t kSteps = 1;
  static constexpr std::size_t kMostRows = 12;
  static constexpr bool kKeepsNanPayload = true;

  // A whole panel a pass where registers allow (24 sums, 4 weights and x are 29 of 32): memory is
  // then one stream. Beyond, tall tiles: they load a vector of weights for twice as many
  // multiply-adds.
  static constexpr std::size_t columns(std::size_t rows) { return rows <= 6 ? 4 : 2; }
  static void arrange(const Bf16* x, std::uint64_t pairs, Activation* into) {
    std::memcpy(into, x, pairs * sizeof(Bf16Pair));
  }
  static Weights weights(const Bf16Pair* from, std::size_t) {
    return reinterpret_cast<__m512bh>(_mm512_loadu_si512(from));
  }
  static __m512bh broadcast(const Activation* x) {
    return reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(*x)));
  }
  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* into, Vector sum) { _mm512_storeu_ps(into, sum); }
  static Vector multiply_add(Vector sum, Weights w, __m512bh x) {
    return _mm512_dpbf16_ps(sum, w, x);
  }
};

}  // namespace

const PanelPath kAvx512Bf16Panel{
    .name = "avx512bf16",
    .isa = "AVX-512 BF16",
    .tile = "6x64 or 12x32 f32 by vdpbf16ps",
    .scratch_bytes = &scratch_bytes<Avx512Bf16>,
    .run = &run_panels<Avx512Bf16>,
};

}  // namespace tare::kernels
