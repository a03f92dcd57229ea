// The instruction set of this folder, as panel.h and grouped.h take it. Of internal linkage: see
// panel.h.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "formats/half.h"
#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/chunk_sums.h"
#include "kernels/cpu/control_word.h"
#include "kernels/cpu/grouped_task.h"

namespace tare::kernels {
namespace {

struct Portable {
  using Pair = Bf16Pair;
  static constexpr std::size_t kLanes = 8;
  struct Vector {
    float lane[kLanes];
  };
  using Weights = Vector;
  using Activation = float;
  using Control = NoGuard;  // the emulation flushes by itself
  static constexpr std::size_t kSteps = 2;
  static constexpr std::size_t kMostRows = 2;
  static constexpr Nan kNan = Nan::kLookedUp;
  static constexpr std::size_t kWideRows = kMostRows;
  static constexpr std::size_t kRegisters = 0;

  static constexpr std::size_t columns(std::size_t) { return 2; }
  static void arrange(const Bf16* x, std::uint64_t pairs, Activation* into) {
    for (std::uint64_t i = 0; i < 2 * pairs; ++i) into[i] = widen(x[i]);
  }
  struct Pairs {
    Bf16Pair lane[kLanes];
  };
  static Pairs pairs(const Bf16Pair* from) {
    Pairs all;
    for (std::size_t i = 0; i < kLanes; ++i) all.lane[i] = from[i];
    return all;
  }
  // One step's weights of them.
  static Weights part(const Pairs& pairs, std::size_t step) {
    Weights all;
    for (std::size_t i = 0; i < kLanes; ++i)
      all.lane[i] = widen(static_cast<Bf16>(step == 0 ? pairs.lane[i] >> 16 : pairs.lane[i]));
    return all;
  }
  static Weights weights(const Bf16Pair* from, std::size_t step) { return part(pairs(from), step); }
  static float broadcast(const Activation* x) { return *x; }
  static Vector load(const float* from) {
    Vector all;
    for (std::size_t i = 0; i < kLanes; ++i) all.lane[i] = from[i];
    return all;
  }
  static void store(float* into, const Vector& sum) {
    for (std::size_t i = 0; i < kLanes; ++i) into[i] = sum.lane[i];
  }
  static Vector multiply_add(Vector sum, const Weights& w, float x) {
    for (std::size_t i = 0; i < kLanes; ++i)
      sum.lane[i] = multiply_add_flushed(w.lane[i], x, sum.lane[i]);
    return sum;
  }

  // Of plain f32: a * b + sum rounded once, and one value in every lane.
  static Vector fused(const Vector& sum, const Vector& a, const Vector& b) {
    return each([&](std::size_t i) { return std::fma(a.lane[i], b.lane[i], sum.lane[i]); });
  }
  static Vector product(const Vector& a, const Vector& b) {
    return each([&](std::size_t i) { return a.lane[i] * b.lane[i]; });
  }
  static Vector plus(const Vector& a, const Vector& b) {
    return each([&](std::size_t i) { return a.lane[i] + b.lane[i]; });
  }
  static Vector minus(const Vector& a, const Vector& b) {
    return each([&](std::size_t i) { return a.lane[i] - b.lane[i]; });
  }
  static Vector spread(const float* value) {
    return each([&](std::size_t) { return *value; });
  }
  template <ScaleType Type>
  static Vector widened(const std::byte* from) {
    return each([&](std::size_t i) {
      std::uint16_t word;
      std::memcpy(&word, from + 2 * i, sizeof word);
      if constexpr (Type == ScaleType::kF16) return formats::from_f16(word);
      return std::bit_cast<float>(static_cast<std::uint32_t>(word) << 16);
    });
  }
  template <bool Unsigned>
  static Vector bytes(const std::byte* from) {
    return each([&](std::size_t i) {
      const auto byte = static_cast<std::uint8_t>(from[i]);
      return static_cast<float>(Unsigned ? byte : static_cast<std::int8_t>(byte));
    });
  }

 private:
  template <typename Make>
  static Vector each(Make&& make) {
    Vector all;
    for (std::size_t i = 0; i < kLanes; ++i) all.lane[i] = make(i);
    return all;
  }
};

}  // namespace
}  // namespace tare::kernels
