// A row's bits must depend neither on how many rows are dispatched with it nor on what they hold.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/bf16_arithmetic.h"

namespace tare::kernels {

// `project(rows, x)`: y[rows, n]. `x`: [rows, k], six rows at least.
template <typename Project>
void expect_same_bits_in_any_company(Project&& project, const std::vector<Bf16>& x,
                                     std::uint32_t rows, std::uint64_t n) {
  const std::uint64_t k = x.size() / rows;
  const auto rows_of = [](const std::vector<Bf16>& all, std::uint64_t width, std::uint64_t first,
                          std::uint64_t count) {
    return std::vector<Bf16>(all.begin() + static_cast<std::ptrdiff_t>(first * width),
                             all.begin() + static_cast<std::ptrdiff_t>((first + count) * width));
  };
  const std::vector<Bf16> all = project(rows, x);
  std::vector<Bf16> spoilt = x;
  constexpr std::uint32_t kSpoilt = 5;
  std::fill_n(spoilt.begin() + static_cast<std::ptrdiff_t>(kSpoilt * k), k, Bf16{0x7FC0});  // NaN
  const std::vector<Bf16> beside_nan = project(rows, spoilt);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::vector<Bf16> own = rows_of(all, n, row, 1);
    ASSERT_EQ(project(1, rows_of(x, k, row, 1)), own) << "row " << row << " alone";
    if (row == kSpoilt) continue;
    ASSERT_EQ(rows_of(beside_nan, n, row, 1), own) << "row " << row << " beside NaN";
  }
  for (std::uint32_t some = 2; some < rows; ++some)
    ASSERT_EQ(project(some, rows_of(x, k, 0, some)), rows_of(all, n, 0, some)) << some << " rows";
}

}  // namespace tare::kernels
