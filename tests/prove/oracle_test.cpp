#include "prove/oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "prove/compare.h"

namespace tare::prove {
namespace {

constexpr Bf16 kNan = 0x7FC0, kInf = 0x7F80;

bool holds(const std::vector<Element>& elements, Element wanted) {
  return std::find(elements.begin(), elements.end(), wanted) != elements.end();
}

TEST(DrawElements, AreDistinctAndHoldTheCorners) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const std::vector<Element> elements = draw_elements(32, 1536, 256, seed);
    EXPECT_EQ(elements.size(), 256U);
    for (const Element corner :
         {Element{0, 0}, Element{0, 1535}, Element{31, 0}, Element{31, 1535}}) {
      EXPECT_TRUE(holds(elements, corner)) << corner.row << " " << corner.output;
    }
    for (std::size_t i = 1; i < elements.size(); ++i) {
      const Element& a = elements[i - 1];
      const Element& b = elements[i];
      EXPECT_TRUE(a.output < b.output || (a.output == b.output && a.row < b.row))
          << "sorted, distinct";
      EXPECT_LT(b.row, 32U);
      EXPECT_LT(b.output, 1536U);
    }
  }
  EXPECT_EQ(draw_elements(32, 1536, 256, 1), draw_elements(32, 1536, 256, 1));
  EXPECT_NE(draw_elements(32, 1536, 256, 1), draw_elements(32, 1536, 256, 2));
}

TEST(DrawElements, TakeAllWhenThereAreFew) {
  EXPECT_EQ(draw_elements(3, 5, 100, 0).size(), 15U);
  EXPECT_EQ(draw_elements(1, 1, 100, 0).size(), 1U);
  EXPECT_EQ(draw_elements(1, 7, 2, 0).size(), 2U) << "one row: its corners are two";
  EXPECT_EQ(draw_elements(5, 5, 1, 0).size(), 4U) << "the corners always";
}

TEST(Oracle, AddsTheBias) {
  constexpr std::uint64_t kColumns = 64;
  std::vector<Bf16> x(2 * kColumns);
  generate_activations(8, 0, 0, x);
  const std::vector<Element> elements = draw_elements(2, 9, 18, 1);
  const WeightKey with{TARE_BF16, kColumns, 9, 4, 1, Data::kIntegers, TARE_BF16};
  WeightKey without = with;
  without.bias = 0;
  const std::vector<double> sums = oracle(x, without, elements), all = oracle(x, with, elements);
  for (std::size_t i = 0; i < elements.size(); ++i)
    EXPECT_DOUBLE_EQ(all[i] - sums[i], generate_bias(with, elements[i].output));
}

// Every generated value is a multiple of 2^-21, and so is every product below of 2^-42: integers of
// 128 bits hold the sums exactly. An independent way to the same number.
TEST(Oracle, IsTheExactDotProduct) {
  constexpr std::uint64_t kColumns = 1537, kSeed = 4, kSlot = 9;
  std::vector<Bf16> x(3 * kColumns);
  generate_activations(8, 0, 0, x);
  const std::vector<Element> elements = draw_elements(3, 50, 20, 1);
  const std::vector<double> truth = oracle(x, {TARE_BF16, kColumns, 0, kSeed, kSlot}, elements);
  ASSERT_EQ(truth.size(), elements.size());
  std::vector<Bf16> weights(50 * kColumns);
  generate_weights(kSeed, kSlot, 0, weights);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    __extension__ __int128 sum = 0;
    for (std::size_t c = 0; c < kColumns; ++c) {
      const auto a = std::ldexp(to_float(x[elements[i].row * kColumns + c]), 21);
      const auto b = std::ldexp(to_float(weights[elements[i].output * kColumns + c]), 21);
      ASSERT_EQ(a, std::trunc(a));
      ASSERT_EQ(b, std::trunc(b));
      sum += static_cast<__int128>(a) * static_cast<__int128>(b);
    }
    EXPECT_EQ(truth[i], std::ldexp(static_cast<double>(sum), -42)) << i;
  }
}

TEST(Oracle, KeepsWhatCancels) {
  // x is a huge number, its negation over the same weights' sum, and 1: found by making x from the
  // weights' own signs.
  constexpr std::uint64_t kColumns = 3, kSeed = 1;
  std::vector<Bf16> w(kColumns);
  generate_weights(kSeed, 0, 0, w);
  // x0 * w0 + x1 * w1 = 0 exactly with x0 = w1 * 2^100, x1 = -w0 * 2^100; what is left is w2.
  const float scale = 0x1p100F;
  const std::vector<Bf16> x = {to_bf16(to_float(w[1]) * scale), to_bf16(-to_float(w[0]) * scale),
                               to_bf16(1.0F)};
  const std::vector<Element> elements = {{0, 0}};
  EXPECT_EQ(oracle(x, {TARE_BF16, kColumns, 0, kSeed, 0}, elements)[0],
            static_cast<double>(to_float(w[2])));
}

TEST(OracleError, PerfectRoundingIsAtMostHalfAStep) {
  const std::vector<double> truth = {1.0, 1.003, -0.7, 100.3, 255.6, 3.1};
  std::vector<Bf16> output;
  std::vector<Element> elements;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    output.push_back(to_bf16(static_cast<float>(truth[i])));
    elements.push_back({0, i});
  }
  const OracleError error = oracle_error(output, truth.size(), elements, truth);
  EXPECT_EQ(error.checked, 6U);
  EXPECT_LE(error.max_ulp, 0.5);
  EXPECT_GT(error.max_ulp, 0);
  EXPECT_LE(error.rms_ulp, error.max_ulp);
}

TEST(OracleError, CountsInStepsAtTheOraclesValue) {
  // Four equal values of 1: a step is 2^-7, and one output is off by three of them.
  const std::vector<double> truth(4, 1.0);
  const std::vector<Bf16> output = {0x3F80, 0x3F80, 0x3F83, 0x3F80};
  const std::vector<Element> elements = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};
  const OracleError error = oracle_error(output, 4, elements, truth);
  EXPECT_DOUBLE_EQ(error.max_ulp, 3);
  EXPECT_DOUBLE_EQ(error.rms_ulp, std::sqrt(9.0 / 4));
}

TEST(OracleError, OfF32CountsF32Steps) {
  const std::vector<double> truth(4, 1.0);
  ElementBuffer output(TARE_F32, 4);
  for (std::size_t i = 0; i < 4; ++i) output.all().set(i, i == 2 ? 1 + 3 * 0x1p-23F : 1);
  const std::vector<Element> elements = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};
  EXPECT_DOUBLE_EQ(oracle_error(output, 4, elements, truth).max_ulp, 3);
}

TEST(OracleError, CancellationDoesNotDominateButZerosDo) {
  // The last value has cancelled: an error of 2^-9 there is a quarter of the step at the row's root
  // mean square.
  const std::vector<double> truth = {1.2, -1.2, 1.2, 0x1p-20};
  const std::vector<Element> elements = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};
  std::vector<Bf16> output;
  for (const double value : truth) output.push_back(to_bf16(static_cast<float>(value)));
  output[3] = to_bf16(0x1p-9F);
  EXPECT_LT(oracle_error(output, 4, elements, truth).max_ulp, 0.51);
  const std::vector<Bf16> zeros(4, 0);
  EXPECT_GT(oracle_error(zeros, 4, elements, truth).max_ulp, 100);
}

TEST(OracleError, AnOutputCannotWidenItsOwnTolerance) {
  const std::vector<double> truth(4, 0x1p-10);
  const std::vector<Element> elements = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};
  const std::vector<Bf16> output(4, to_bf16(1024.0F));
  EXPECT_GT(oracle_error(output, 4, elements, truth).max_ulp, 1e6);
}

TEST(OracleError, RowsOfOneElementShareARootMeanSquare) {
  // Six rows with one drawn element each; one of them cancelled.
  const std::vector<double> truth = {1, 1, 1, 1, 1, 0x1p-30};
  std::vector<Element> elements;
  std::vector<Bf16> output;
  for (std::uint32_t row = 0; row < 6; ++row) elements.push_back({row, 0});
  for (const double value : truth) output.push_back(to_bf16(static_cast<float>(value)));
  output[5] = to_bf16(0x1p-10F);
  EXPECT_LT(oracle_error(output, 1, elements, truth).max_ulp, 0.51);
}

TEST(OracleError, WhatIsNotFiniteIsCountedApart) {
  const std::vector<double> truth = {1, 1, 1};
  const std::vector<Element> elements = {{0, 0}, {1, 0}, {2, 0}};
  const OracleError error = oracle_error(std::vector<Bf16>{kNan, kInf, 0x3F80}, 1, elements, truth);
  EXPECT_EQ(error.checked, 3U);
  EXPECT_EQ(error.non_finite, 2U);
  EXPECT_EQ(error.max_ulp, 0);
}

}  // namespace
}  // namespace tare::prove
