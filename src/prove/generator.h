// The counter-based generator of weights and activations: element i of slot s is a pure function of
// (seed, s, i), so that every process makes the same data and no copy crosses a process border.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tare::prove {

using Bf16 = std::uint16_t;  // bit pattern

// Real weights are near normal with heavier tails: values are bell-shaped around 0 with standard deviation about
// 0.02 (weights) or 1 (activations), about 1 in 256 four times as large, never NaN, Inf or subnormal. The same bits
// on every compiler and ISA: integer arithmetic and one exact scaling, rounded to nearest even.
void generate_weights(std::uint64_t seed, std::uint64_t slot, std::uint64_t first, std::span<Bf16> into);
void generate_activations(std::uint64_t seed, std::uint64_t slot, std::uint64_t first, std::span<Bf16> into);

}  // namespace tare::prove
