// Classes of data: what each is there to show, it has.
#include "prove/data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "formats/weight_format.h"
#include "prove/compare.h"
#include "prove/weights.h"
#include "tests/formats/every_format.h"

namespace tare::prove {
namespace {

constexpr std::uint64_t kK = 1536, kN = 48;

std::vector<double> weights(Data data, std::uint32_t type, std::uint64_t output,
                            std::uint64_t k = kK) {
  std::vector<double> row;
  generate_row({.type = type, .k = k, .n = kN, .seed = 3, .slot = 0, .data = data}, output, row);
  return row;
}

std::vector<double> x(Data data, std::uint32_t type, std::uint64_t row, std::uint64_t k = kK) {
  std::vector<Bf16> bits(k);
  draw_row({.data = data, .type = type, .k = k, .seed = 3}, row, bits);
  std::vector<double> values(k);
  std::transform(bits.begin(), bits.end(), values.begin(), to_float);
  return values;
}

double mean_power(const std::vector<double>& values, int power) {
  double sum = 0;
  for (const double value : values) sum += std::pow(value, power);
  return sum / static_cast<double>(values.size());
}

TEST(Data, RealWeightsHaveTheTailsOfAModel) {
  std::vector<double> all;
  for (std::uint64_t j = 0; j < 256; ++j) {
    const auto row = weights(Data::kReal, TARE_F32, j);
    all.insert(all.end(), row.begin(), row.end());
  }
  // Gemma's, as scripts/weight-quantiles prints them; a normal distribution has kurtosis 3. Of
  // 393,216 values of kurtosis 9 the sample's own kurtosis is good to about 0.5.
  EXPECT_NEAR(std::sqrt(mean_power(all, 2)), 0x1p-6, 0x1p-6 * 0.01);
  EXPECT_NEAR(mean_power(all, 4) / std::pow(mean_power(all, 2), 2), 8.84, 1);
  EXPECT_NEAR(mean_power(all, 1), 0, 0x1p-6 * 0.01);
}

TEST(Data, OneHotRowsHaveOneElementTheFirstAndTheLastAmongThem) {
  for (std::uint64_t row = 0; row < 32; ++row) {
    const auto values = x(Data::kOneHot, TARE_BF16, row);
    EXPECT_EQ(std::ranges::count(values, 0.0), static_cast<std::ptrdiff_t>(kK - 1)) << row;
  }
  EXPECT_EQ(x(Data::kOneHot, TARE_BF16, 0).front(), 1);
  EXPECT_EQ(x(Data::kOneHot, TARE_BF16, 1).back(), -0.5);
}

// A bias that hid the sum, or that the sum hid, would prove nothing of its place.
TEST(Data, ABiasIsOfTheSizeOfTheSums) {
  for (const Data data : kProvenData) {
    std::vector<double> sums, biases;
    for (std::uint64_t j = 0; j < kN; ++j) {
      const auto w = weights(data, TARE_BF16, j);
      biases.push_back(draw_bias({data, TARE_BF16, kK, 3, 0}, j));
      for (std::uint64_t row = 0; row < 8; row += 2) {
        const auto values = x(data, TARE_BF16, row);
        sums.push_back(std::inner_product(w.begin(), w.end(), values.begin(), 0.0));
      }
    }
    const double size = std::sqrt(mean_power(sums, 2)), bias = std::sqrt(mean_power(biases, 2));
    if (data == Data::kSubnormal) {
      EXPECT_LT(bias, 0x1p-124);
      EXPECT_GT(bias, 0x1p-132);
      continue;
    }
    EXPECT_GT(bias, size / 256) << name_of(data);
    EXPECT_LT(bias, size * 16) << name_of(data);
  }
}

TEST(Data, IntegersSumExactlyInFloat) {
  const auto w = weights(Data::kIntegers, TARE_BF16, 5);
  const auto row = x(Data::kIntegers, TARE_BF16, 5);
  EXPECT_EQ(std::ranges::max(w), 8);
  EXPECT_EQ(std::ranges::min(row), -8);
  float single = 0;
  for (std::uint64_t i = 0; i < kK; ++i) single += static_cast<float>(w[i] * row[i]);
  EXPECT_EQ(single, std::inner_product(w.begin(), w.end(), row.begin(), 0.0));
}

TEST(Data, SubnormalsAreInEveryOtherOutputAndRow) {
  const auto has_subnormal = [](const std::vector<double>& values) {
    return std::ranges::any_of(values, [](double v) { return v != 0 && std::fabs(v) < 0x1p-126; });
  };
  EXPECT_TRUE(has_subnormal(weights(Data::kSubnormal, TARE_BF16, 0)));
  EXPECT_FALSE(has_subnormal(weights(Data::kSubnormal, TARE_BF16, 1)));
  EXPECT_FALSE(has_subnormal(x(Data::kSubnormal, TARE_BF16, 0)));
  EXPECT_TRUE(has_subnormal(x(Data::kSubnormal, TARE_BF16, 1)));
}

// Negated copies of activations that bf16 does not hold, to the last bit.
TEST(Data, F32RowsCancelExactly) {
  std::vector<float> values(kK);
  const Elements row(TARE_F32, values.data(), kK);
  draw_row({.data = Data::kUsual, .type = TARE_F32, .k = kK, .seed = 3}, 0, row);
  EXPECT_GT(std::ranges::count_if(values, [](float v) { return to_float(to_bf16(v)) != v; }), 1000);
  draw_row({.data = Data::kCancelling, .type = TARE_F32, .k = kK, .seed = 3}, 0, row);
  const auto w = weights(Data::kCancelling, TARE_F32, 0);
  double exact = 0, magnitude = 0;
  for (std::uint64_t i = 0; i < kK; ++i) {
    exact += w[i] * static_cast<double>(values[i]);
    magnitude += std::pow(w[i] * static_cast<double>(values[i]), 2);
  }
  EXPECT_LT(std::fabs(exact), std::sqrt(magnitude) * 0x1p-9);
  EXPECT_NE(exact, 0);
}

class Cancelling : public testing::TestWithParam<formats::WeightFormat> {
 protected:
  // f32 sums in `lanes` interleaved accumulators, added at the end.
  static Bf16 sum(const std::vector<double>& w, const std::vector<double>& row, std::size_t lanes) {
    std::vector<float> sums(lanes, 0.0F);
    for (std::size_t i = 0; i < w.size(); ++i)
      sums[i % lanes] += static_cast<float>(w[i]) * static_cast<float>(row[i]);
    return to_bf16(std::accumulate(sums.begin(), sums.end(), 0.0F));
  }
};

TEST_P(Cancelling, LaysTheLowBitsOfSumsBare) {
  std::uint64_t differing = 0;
  for (std::uint64_t j = 0; j < kN; ++j) {
    const auto w = weights(Data::kCancelling, GetParam().type, j);
    const auto row = x(Data::kCancelling, GetParam().type, j % 4);
    double exact = 0, magnitude = 0;
    for (std::uint64_t i = 0; i < kK; ++i) {
      exact += w[i] * row[i];
      magnitude += std::pow(w[i] * row[i], 2);
    }
    EXPECT_LT(std::fabs(exact), std::sqrt(magnitude) * 0x1p-9) << j;
    EXPECT_NE(exact, 0) << j;
    differing += sum(w, row, 1) != sum(w, row, 2) ? 1 : 0;
  }
  // Usual data: about one output in 10,000 (docs/kernels/panel.md).
  EXPECT_GT(differing, kN / 2);
}

INSTANTIATE_TEST_SUITE_P(Formats, Cancelling, formats::every_format(), formats::name_of_format);

TEST(Data, ShortLinesAreDrawnToo) {
  for (const std::uint64_t k : {1, 2, 3, 7, 31, 61})
    for (const Data data : kProvenData) {
      EXPECT_EQ(weights(data, TARE_BF16, 1, k).size(), k);
      EXPECT_EQ(x(data, TARE_BF16, 1, k).size(), k);
    }
}

}  // namespace
}  // namespace tare::prove
