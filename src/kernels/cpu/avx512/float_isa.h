// f16 and f32 weights on this folder's instruction set, as panel.h takes them. Of internal linkage:
// see panel.h.
#pragma once

#include <cstring>
#include <type_traits>

#include "kernels/cpu/avx512/isa.h"
#include "kernels/cpu/float_panel.h"

namespace tare::kernels {
namespace {

template <typename Element>
struct Avx512Float : Avx512 {
  using Pair = Element;
  using Control = NoGuard;  // float_panel.h sets it for the whole task
  static constexpr std::size_t kSteps = 1;
  static constexpr Nan kNan = Nan::kDefault;

  static void arrange(const Bf16* x, std::uint64_t count, Activation* into) {
    for (std::uint64_t i = 0; i < count; ++i)
      into[i] = std::bit_cast<float>(static_cast<std::uint32_t>(x[i]) << 16);
  }
  static Weights weights(const Element* from, std::size_t) {
    if constexpr (std::is_same_v<Element, float>) return _mm512_loadu_ps(from);
    // Masked: GCC 12 warns of the plain form (GCC bug 105593).
    else
      return _mm512_maskz_cvtph_ps(0xFFFF,
                                   _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
};

}  // namespace
}  // namespace tare::kernels
