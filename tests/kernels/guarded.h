// A product written between guards that must survive it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "kernels/bf16_arithmetic.h"

namespace tare::kernels {

// y of the weights in slot 0, `count` elements, with guards on both sides. `Projection`: a
// PanelProjection or a GroupedProjection. `Value`: Bf16 or float.
template <typename Projection, typename Value>
std::vector<Value> run_guarded(Projection& projection, const Value* x, std::size_t count) {
  constexpr std::size_t kGuard = 32;
  constexpr Value kPoison = 0x7FA5;
  std::vector<Value> guarded(count + 2 * kGuard, kPoison);
  projection.run(0, x, guarded.data() + kGuard);
  for (std::size_t i = 0; i < kGuard; ++i) {
    EXPECT_EQ(guarded[i], kPoison) << "written in front of y";
    EXPECT_EQ(guarded[guarded.size() - 1 - i], kPoison) << "written behind y";
  }
  return {guarded.begin() + kGuard, guarded.end() - kGuard};
}

}  // namespace tare::kernels
