// The end of a panel of the grouped kernels: totals rounded into y.
#pragma once

#include <cstdint>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/grouped_task.h"

namespace tare::kernels {

// One NaN for all: which one a sum has depends on the order of a multiply-add's operands.
static inline Bf16 narrow_any_nan(float value) {
  constexpr Bf16 kNan = 0x7FC0;
  return value != value ? kNan : narrow(value);
}

static inline void store_grouped(const GroupedTask& task, std::uint64_t panel,
                                 const float* totals) {
  const std::uint64_t first = panel * kPanelOutputs;
  const std::uint64_t left = task.shape.n - first;
  const std::uint64_t outputs = left < kPanelOutputs ? left : kPanelOutputs;
  for (std::uint64_t row = 0; row < task.rows; ++row, totals += kPanelOutputs) {
    Bf16* y = task.y + row * task.shape.n + first;
    for (std::uint64_t j = 0; j < outputs; ++j) y[j] = narrow_any_nan(totals[j]);
  }
}

}  // namespace tare::kernels
