// f16 and f32 weights in plain C++, as panel.h takes them. Of internal linkage: see panel.h.
#pragma once

#include <bit>
#include <cmath>
#include <type_traits>

#include "formats/half.h"
#include "kernels/cpu/float_panel.h"
#include "kernels/cpu/portable/isa.h"

namespace tare::kernels {
namespace {

template <typename Element>
struct PortableFloat : Portable {
  using Pair = Element;
  using Control = NoGuard;  // float_panel.h sets it for the whole task
  static constexpr std::size_t kSteps = 1;
  static constexpr Nan kNan = Nan::kDefault;

  static void arrange(const Bf16* x, std::uint64_t count, Activation* into) {
    for (std::uint64_t i = 0; i < count; ++i)
      into[i] = std::bit_cast<float>(static_cast<std::uint32_t>(x[i]) << 16);
  }
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
