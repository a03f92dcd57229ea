// f16 and f32 weights in plain C++, as float_panel.h takes them. Of internal linkage: see panel.h.
#pragma once

#include <bit>
#include <cmath>
#include <type_traits>

#include "formats/half.h"
#include "kernels/cpu/portable/isa.h"

namespace tare::kernels {
namespace {

template <typename Element>
struct PortableFloat : Portable {
  static Weights weights(const Element* from, std::size_t) {
    Weights all;
    for (std::size_t i = 0; i < kLanes; ++i) {
      if constexpr (std::is_same_v<Element, float>)
        all.lane[i] = from[i];
      else
        all.lane[i] = formats::from_f16(from[i]);
    }
    return all;
  }
  static Vector multiply_add(Vector sum, const Weights& w, float x) {
    for (std::size_t i = 0; i < kLanes; ++i) sum.lane[i] = std::fma(w.lane[i], x, sum.lane[i]);
    return sum;
  }
};

}  // namespace
}  // namespace tare::kernels
