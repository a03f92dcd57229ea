// f16 and f32 weights on this folder's instruction set, as float_panel.h takes them. Of internal
// linkage: see panel.h.
#pragma once

#include <type_traits>

#include "kernels/cpu/avx2/isa.h"

namespace tare::kernels {
namespace {

template <typename Element>
struct Avx2Float : Avx2 {
  // Whole panels where sums, weights and x fit 16 registers.
  static constexpr std::size_t columns(std::size_t rows) { return rows <= 2 ? 4 : 2; }
  static Weights weights(const Element* from, std::size_t) {
    if constexpr (std::is_same_v<Element, float>)
      return _mm256_loadu_ps(from);
    else
      return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
};

}  // namespace
}  // namespace tare::kernels
