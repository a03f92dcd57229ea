// Data whose bf16 outputs show in which order f32 sums were added: on usual data they hide it
// (docs/kernels/panel.md).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/sum_order.h"
#include "tests/kernels/reference.h"

namespace tare::kernels {

struct BareData {
  std::vector<Bf16> x;        // [rows, k]
  std::vector<Bf16> weights;  // [n, k]
};

// Every output's weights end in two elements that cancel the upper 16 bits of its sum in row
// output % rows: what is left are the sum's low bits, in the given order. k is even.
inline BareData draw_bare(std::mt19937_64& random, std::uint64_t k, std::uint64_t n,
                          std::uint32_t rows, SumOrder order) {
  constexpr Bf16 kOne = 0x3F80, kSign = 0x8000;
  BareData data{reference::draw(random, rows * k, reference::Values::kUsual),
                reference::draw(random, n * k, reference::Values::kUsual)};
  for (std::uint32_t row = 0; row < rows; ++row)
    data.x[(row + 1) * k - 1] = data.x[(row + 1) * k - 2] = kOne;
  for (std::uint64_t output = 0; output < n; ++output) {
    Bf16* w = data.weights.data() + output * k;
    const Bf16* x = data.x.data() + output % rows * k;
    w[k - 1] = w[k - 2] = 0;
    const std::uint64_t first = order.even_first ? k - 2 : k - 1;
    w[first] = narrow(reference::dot(x, w, k, order)) ^ kSign;
    w[first ^ 1U] = narrow(reference::dot(x, w, k, order)) ^ kSign;
  }
  return data;
}

// A bias that cancels the upper 16 bits of every output's total in row output % rows: what is left
// are the low bits of the total, if the bias is added to it before anything is rounded.
inline std::vector<Bf16> bare_bias(const BareData& data, std::uint64_t k, std::uint64_t n,
                                   std::uint32_t rows, SumOrder order) {
  std::vector<Bf16> bias(n);
  for (std::uint64_t output = 0; output < n; ++output) {
    const Bf16* x = data.x.data() + output % rows * k;
    bias[output] = narrow(reference::dot(x, data.weights.data() + output * k, k, order)) ^ 0x8000;
  }
  return bias;
}

// W[n, k] as bind() gets it, its bias behind it from the next multiple of 64 bytes on.
template <typename Bias>
std::vector<Bf16> with_bias(const std::vector<Bf16>& weights, const std::vector<Bias>& bias) {
  std::vector<Bf16> both(weights);
  both.resize((both.size() + 31) / 32 * 32 + bias.size() * sizeof(Bias) / sizeof(Bf16));
  std::memcpy(both.data() + both.size() - bias.size() * sizeof(Bias) / sizeof(Bf16), bias.data(),
              bias.size() * sizeof(Bias));
  return both;
}

inline std::vector<float> widened(const std::vector<Bf16>& values) {
  std::vector<float> wide;
  for (const Bf16 value : values)
    wide.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16));
  return wide;
}

inline std::size_t differing(const std::vector<Bf16>& a, const std::vector<Bf16>& b) {
  std::size_t count = a.size() == b.size() ? 0 : a.size();
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

}  // namespace tare::kernels
