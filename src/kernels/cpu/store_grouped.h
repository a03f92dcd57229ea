// The end of a panel of the grouped kernels: totals, perhaps with a bias, rounded into y, or put
// into a y of f32.
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

// Puts `value(j)` of each of a panel's outputs at its place in a row of y.
template <typename Value>
[[gnu::always_inline]] inline void store_outputs(const GroupedTask& task, std::uint64_t at,
                                                 std::uint64_t outputs, const Value& value) {
  if (task.wide_y != nullptr) {
    for (std::uint64_t j = 0; j < outputs; ++j) task.wide_y[at + j] = keep_any_nan(value(j));
  } else {
    for (std::uint64_t j = 0; j < outputs; ++j) task.y[at + j] = narrow_any_nan(value(j));
  }
}

// `lower`: of each row, what its totals are multiplied by (small_x.h): a power of two. A bias is
// added in the same operation, in so many words: where compilers fuse it or not, bits would differ.
static inline void store_grouped(const GroupedTask& task, std::uint64_t panel, const float* totals,
                                 const float* lower) {
  const std::uint64_t first = panel * kGroupedOutputs;
  const std::uint64_t left = task.shape.n - first;
  const std::uint64_t outputs = left < kGroupedOutputs ? left : kGroupedOutputs;
  for (std::uint64_t row = 0; row < task.rows; ++row, totals += kGroupedOutputs) {
    const std::uint64_t at = row * task.shape.n + first;
    const float factor = lower[row];
    if (task.bias == nullptr) {
      store_outputs(task, at, outputs, [&](std::uint64_t j) { return totals[j] * factor; });
    } else {
      const float* bias = task.bias + first;
      store_outputs(task, at, outputs,
                    [&](std::uint64_t j) { return __builtin_fmaf(totals[j], factor, bias[j]); });
    }
  }
}

}  // namespace tare::kernels
