// SplitMix64 (Steele, Lea, Flood 2014: "Fast splittable pseudorandom number generators"), for draws
// that are the same on every machine and need no state but a counter.
#pragma once

#include <cstdint>

namespace tare {

// What it adds to its state from draw to draw: 2^64 / golden ratio, odd. Also a way to make another
// seed of a seed.
inline constexpr std::uint64_t kSplitMixStep = 0x9E3779B97F4A7C15U;

// The draw that follows the state `value`: a bijection of 64 bits.
constexpr std::uint64_t split_mix(std::uint64_t value) {
  value += kSplitMixStep;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

// The same as a real number, evenly from [0, 1).
constexpr double split_mix_unit(std::uint64_t value) {
  return static_cast<double>(split_mix(value) >> 11U) * 0x1p-53;
}

}  // namespace tare
