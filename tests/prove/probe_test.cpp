// Inputs that cancel: the two parts are large, and what is left of them is what was asked for.
#include "prove/probe.h"
#include "prove/weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "prove/compare.h"

namespace tare::prove {
namespace {

constexpr std::size_t kLength = 768;

struct Sums {
  double first = 0, second = 0;
};

Sums sums_of(const std::vector<double>& w, const std::vector<Bf16>& x, Parts parts) {
  Sums sums;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const bool first = parts == Parts::kHalves ? i < w.size() / 2 : i % 2 == 0;
    (first ? sums.first : sums.second) += w[i] * to_float(x[i]);
  }
  return sums;
}

TEST(CancellingRow, LeavesTheRestOfTwoLargeParts) {
  std::vector<double> weights;
  std::vector<Bf16> row(kLength);
  generate_row({TARE_BF16, kLength, 1, 3, 0}, 0, weights);
  for (const Parts parts : {Parts::kHalves, Parts::kAlternating}) {
    constexpr float kRest = 0.05F;
    cancelling_row(weights, parts, kRest, row);
    const Sums sums = sums_of(weights, row, parts);
    EXPECT_GT(sums.first, 5) << "64 * 384 * 0.02^2 is 10";
    // Each x is rounded by at most 2^-9 of itself, and the products of a part are all of one sign.
    EXPECT_NEAR(sums.first + sums.second, kRest * sums.first, 0x1p-8 * sums.first);
  }
}

TEST(CancellingRow, TheShortestHasTwoElements) {
  const std::vector<double> weights{0.5, 0.25};
  std::vector<Bf16> row(2);
  cancelling_row(weights, Parts::kHalves, 0, row);
  EXPECT_EQ(to_float(row[0]), 32);
  EXPECT_EQ(to_float(row[1]), -64);
}

TEST(CancellingRow, APartOfZerosCannotCancel) {
  const std::vector<double> weights{0.5, 0};
  std::vector<Bf16> row(2);
  cancelling_row(weights, Parts::kHalves, 0, row);
  EXPECT_TRUE(std::isfinite(to_float(row[0])) && std::isfinite(to_float(row[1])));
}

TEST(SpoilRow, BothEndsAndTheMiddle) {
  std::vector<Bf16> row(5, to_bf16(1));
  spoil_row(row);
  for (const std::size_t at : {0, 2, 4}) EXPECT_TRUE(std::isnan(to_float(row[at]))) << at;
  EXPECT_EQ(to_float(row[1]), 1);
}

}  // namespace
}  // namespace tare::prove
