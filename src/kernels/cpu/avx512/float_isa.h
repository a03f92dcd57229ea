// f16 and f32 weights on this folder's instruction set, as float_panel.h takes them. Of internal
// linkage: see panel.h.
#pragma once

#include <cstring>
#include <type_traits>

#include "kernels/cpu/avx512/isa.h"

namespace tare::kernels {
namespace {

template <typename Element>
struct Avx512Float : Avx512 {
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
