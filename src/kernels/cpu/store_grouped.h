// The end of a panel of the grouped kernels: totals rounded into y, or put into a y of f32.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/grouped_task.h"

namespace tare::kernels {

// One NaN for all: which one a sum has depends on the order of a multiply-add's operands.
static inline Bf16 narrow_any_nan(float value) {
  constexpr Bf16 kNan = 0x7FC0;
  return value != value ? kNan : narrow_unflushed(value);
}

static inline float keep_any_nan(float value) {
  constexpr std::uint32_t kNan = 0x7FC00000;
  return value != value ? std::bit_cast<float>(kNan) : value;
}

// `lower`: of each row, what its totals are multiplied by (small_x.h).
static inline void store_grouped(const GroupedTask& task, std::uint64_t panel, const float* totals,
                                 const float* lower) {
  const std::uint64_t first = panel * kGroupedOutputs;
  const std::uint64_t left = task.shape.n - first;
  const std::uint64_t outputs = left < kGroupedOutputs ? left : kGroupedOutputs;
  for (std::uint64_t row = 0; row < task.rows; ++row, totals += kGroupedOutputs) {
    const std::uint64_t at = row * task.shape.n + first;
    if (task.wide_y != nullptr) {
      for (std::uint64_t j = 0; j < outputs; ++j)
        task.wide_y[at + j] = keep_any_nan(totals[j] * lower[row]);
    } else {
      for (std::uint64_t j = 0; j < outputs; ++j)
        task.y[at + j] = narrow_any_nan(totals[j] * lower[row]);
    }
  }
}

}  // namespace tare::kernels
