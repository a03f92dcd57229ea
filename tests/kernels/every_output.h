// Outputs against what each must be by itself.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace tare::kernels {

// `y`: [rows, n]; `expected(row, j)`: output j of that row, to the last bit.
template <typename Value, typename Expected>
void expect_every_output(const std::vector<Value>& y, std::uint64_t rows, Expected&& expected) {
  const std::uint64_t n = y.size() / rows;
  for (std::uint64_t row = 0; row < rows; ++row)
    for (std::uint64_t j = 0; j < n; ++j)
      ASSERT_EQ(y[row * n + j], expected(row, j)) << "row " << row << " output " << j;
}

}  // namespace tare::kernels
