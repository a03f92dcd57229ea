// What the kernels are held against: one output at a time, one multiply-add at a time, NaN payloads
// followed as the processor's manual says (a NaN factor before a NaN sum; w before x), nothing
// shared with the kernels but the rounding of a single multiply-add, which bf16_arithmetic_test.cpp
// holds against the processor itself.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/bf16_arithmetic.h"
#include "kernels/sum_order.h"

namespace tare::kernels::reference {

inline float multiply_add(Bf16 w, Bf16 x, float sum) {
  const auto bits = [](Bf16 value) { return static_cast<std::uint32_t>(value) << 16; };
  constexpr std::uint32_t kQuiet = 0x00400000u;
  if (is_nan(w)) return std::bit_cast<float>(bits(w) | kQuiet);
  if (is_nan(x)) return std::bit_cast<float>(bits(x) | kQuiet);
  if (sum != sum) return std::bit_cast<float>(std::bit_cast<std::uint32_t>(sum) | kQuiet);
  const float result = multiply_add_flushed(widen(w), widen(x), flushed(sum));
  return result != result ? std::bit_cast<float>(kDefaultNan) : result;
}

inline float dot_pair(float sum, Bf16Pair x, Bf16Pair w) {
  sum = multiply_add(static_cast<Bf16>(w >> 16), static_cast<Bf16>(x >> 16), sum);
  return multiply_add(static_cast<Bf16>(w), static_cast<Bf16>(x), sum);
}

inline float add(float total, float sum) {
  constexpr std::uint32_t kQuiet = 0x00400000u;
  if (sum != sum) return std::bit_cast<float>(std::bit_cast<std::uint32_t>(sum) | kQuiet);
  if (total != total) return total;
  const float both = total + sum;
  return both != both ? std::bit_cast<float>(kDefaultNan) : both;
}

// Lanes added by halves: at each step every lane that is left to the one so far above it.
inline float fold(std::vector<float> lanes, const std::array<std::uint8_t, 5>& distances) {
  std::vector<std::size_t> left(lanes.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  for (std::size_t step = 0; left.size() > 1; ++step) {
    std::vector<std::size_t> stay;
    for (const std::size_t lane : left)
      if (std::find(left.begin(), left.end(), lane + distances[step]) != left.end() &&
          std::find(stay.begin(), stay.end(), lane - distances[step]) == stay.end()) {
        lanes[lane] += lanes[lane + distances[step]];
        stay.push_back(lane);
      }
    left = stay;
  }
  return lanes[0];
}

// The f32 total of one output; x and w are rows of k elements.
inline float dot(const Bf16* x, const Bf16* w, std::uint64_t k, SumOrder order) {
  float total = 0;
  for (std::uint64_t first = 0; first < k; first += order.chunk) {
    std::vector<float> lanes(order.lanes, 0.0F);
    const std::uint64_t last = std::min(first + order.chunk, k);
    for (std::uint64_t pair = first / 2; pair < last / 2 + last % 2; ++pair) {
      float& lane = lanes[(pair - first / 2) % order.lanes];
      const int turn = order.even_first ? 16 : 0;
      lane = dot_pair(lane, std::rotl(pair_at(x, k, pair), turn),
                      std::rotl(pair_at(w, k, pair), turn));
    }
    const float sum = fold(lanes, order.fold);
    total = first == 0 ? sum : add(total, sum);
  }
  return total;
}

// A NaN total wins; a NaN bias turns quiet.
inline float add_bias(float total, float bias) {
  return total != total ? total : add(total, bias);
}

// y[rows, n] = x[rows, k] . w[n, k]^T (+ bias[n], of no element where there is none)
inline std::vector<Bf16> project(const std::vector<Bf16>& x, const std::vector<Bf16>& w,
                                 std::uint64_t k, std::uint64_t n, std::uint64_t rows,
                                 SumOrder order, const std::vector<float>& bias = {}) {
  std::vector<Bf16> y(rows * n);
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t output = 0; output < n; ++output) {
      float total = dot(x.data() + row * k, w.data() + output * k, k, order);
      if (!bias.empty()) total = add_bias(total, bias[output]);
      y[row * n + output] = order.keeps_subnormals ? narrow_unflushed(total) : narrow(total);
    }
  }
  return y;
}

// Values about as large as a model's, or anything a bf16 can be.
enum class Values { kUsual, kAnyFinite, kAnyBits };

inline std::vector<Bf16> draw(std::mt19937_64& random, std::size_t count, Values values) {
  std::vector<Bf16> all(count);
  std::normal_distribution<float> bell;
  for (auto& one : all) {
    one = values == Values::kUsual ? narrow(bell(random)) : static_cast<Bf16>(random());
    const bool finite = (one & 0x7F80u) != 0x7F80u;
    if (values == Values::kAnyFinite && !finite)
      one = static_cast<Bf16>(one & 0x807Fu);  // a subnormal instead
  }
  return all;
}

}  // namespace tare::kernels::reference
