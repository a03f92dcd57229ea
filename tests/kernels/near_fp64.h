// Products against fp64.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/bf16_arithmetic.h"

namespace tare::kernels {

// `y`: [rows, n] of x [rows, k]; `weight(j, i)`: a number.
template <typename Weight>
void expect_near_fp64(const std::vector<Bf16>& y, const std::vector<Bf16>& x, std::uint64_t rows,
                      Weight&& weight) {
  const std::uint64_t k = x.size() / rows, n = y.size() / rows;
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t j = 0; j < n; ++j) {
      double exact = 0, magnitude = 0;
      for (std::uint64_t i = 0; i < k; ++i) {
        const double product = static_cast<double>(widen(x[row * k + i])) * weight(j, i);
        exact += product;
        magnitude += std::abs(product);
      }
      // f32 sums of at most k roundings, and the last one to bf16: 8 bits, of half a step.
      const double sums = static_cast<double>(k) * std::ldexp(magnitude, -24);
      ASSERT_NEAR(widen(y[row * n + j]), exact, std::ldexp(std::abs(exact) + sums, -8) + sums)
          << "row " << row << " output " << j;
    }
  }
}

}  // namespace tare::kernels
