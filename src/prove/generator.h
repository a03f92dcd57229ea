// The counter-based generator of weights and activations: element i of slot s is a pure function of
// (seed, s, i), so that every process makes the same data and no copy crosses a process border.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tare::prove {

using Bf16 = std::uint16_t;  // bit pattern

// Real weights are near normal with heavier tails: values are bell-shaped around 0 with standard
// deviation about 0.02 (weights) or 1 (activations), about 1 in 256 four times as large, never NaN,
// Inf or subnormal; 1 in 370 is +0. The same bits on every compiler and ISA: integer arithmetic and
// one exact scaling, rounded to nearest even.
//
// Fills `into` with elements first, first + 1, ... of the slot. Any range of a slot equals the same
// range of a longer call, so threads can share the work of one slot. Different seeds, slots and the
// two functions give unrelated data. Thread-safe: no state.
void generate_weights(std::uint64_t seed, std::uint64_t slot, std::uint64_t first,
                      std::span<Bf16> into);
// The same values before they are rounded to bf16: at most 20 significant bits.
void generate_weights(std::uint64_t seed, std::uint64_t slot, std::uint64_t first,
                      std::span<float> into);
void generate_activations(std::uint64_t seed, std::uint64_t slot, std::uint64_t first,
                          std::span<Bf16> into);
void generate_activations(std::uint64_t seed, std::uint64_t slot, std::uint64_t first,
                          std::span<float> into);

// The instruction sets the generator is compiled for. All give the same bits; the two functions
// above take the last (fastest) one that this processor has.
struct GeneratorPath {
  std::string name;  // "portable", "AVX2", "AVX-512"
  void (*weights)(std::uint64_t seed, std::uint64_t slot, std::uint64_t first,
                  std::span<Bf16> into);
};
std::vector<GeneratorPath> generator_paths();

}  // namespace tare::prove
