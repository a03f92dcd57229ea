#include "problem/shape.h"

#include "tests/problem/files.h"

namespace tare::problem {
namespace {

TEST(Shape, IsKTimesN) {
  for (const char* const text : {"4096x1024", "4096X1024", "4096\u00d71024"}) {
    const Model model = parse_shape(text);
    EXPECT_EQ(lines(model), std::vector<std::string>{"- 4096x1024 *1"}) << text;
    EXPECT_EQ(model.weights_per_token, 4096u * 1024u);
  }
}

TEST(Shape, OddOnesAreShapesToo) {
  EXPECT_EQ(lines(parse_shape("1x1")), std::vector<std::string>{"- 1x1 *1"});
  EXPECT_EQ(lines(parse_shape("7919x1")), std::vector<std::string>{"- 7919x1 *1"});
  EXPECT_EQ(lines(parse_shape("32768x16777216")), std::vector<std::string>{"- 32768x16777216 *1"});
}

TEST(Shape, WhatIsNoShapeIsQuoted) {
  expect_error([] { parse_shape(""); }, {"shape ''", "write k x n", "4096x1024"});
  expect_error([] { parse_shape("4096"); }, {"shape '4096'", "write k x n"});
  for (const char* const text :
       {"x", "4096x", "x1024", "-1x5", "+1x5", " 1x5", "1x5 ", "1.5x2", "1x2x3", "axb", "0x1F"}) {
    expect_error([&] { parse_shape(text); }, {fmt::format("shape '{}'", text), "whole numbers"});
  }
}

TEST(Shape, LimitsAreSaid) {
  for (const char* const text : {"0x5", "5x0", "16777217x1", "1x99999999999999999999999"}) {
    expect_error([&] { parse_shape(text); }, {"must each be from 1 to 16777216 (2^24)"});
  }
  expect_error([] { parse_shape("32769x16777216"); },
               {"32769 x 16777216 is ", "more than 1099511627776 (2^40)"});
}

TEST(Shape, ANumberPastAllLimitsIsSaidAsItWasGiven) {
  expect_error([] { parse_shape("99999999999999999999x4"); },
               {"shape '99999999999999999999x4'", "k = 99999999999999999999 and n = 4 must"});
  expect_error([] { parse_shape("4x18446744073709551616"); },
               {"k = 4 and n = 18446744073709551616 must"});
}

TEST(Shape, ProblemIsBf16WithF32Sums) {
  const tare_problem problem = bf16_problem(parse_shape("4096x1024").projections[0], 8);
  EXPECT_EQ(problem.k, 4096u);
  EXPECT_EQ(problem.n, 1024u);
  EXPECT_EQ(problem.rows, 8u);
  EXPECT_EQ(problem.weights, TARE_BF16);
  EXPECT_EQ(problem.activations, TARE_BF16);
  EXPECT_EQ(problem.output, TARE_BF16);
  EXPECT_EQ(problem.accumulator, TARE_F32);
}

TEST(Shape, RowsHaveLimits) {
  const Projection projection = parse_shape("64x32").projections[0];
  expect_error([&] { bf16_problem(projection, 0); }, {"rows 0", "from 1 to 4096"});
  expect_error([&] { bf16_problem(projection, 1'000'000'000); }, {"rows 1000000000"});
  EXPECT_EQ(bf16_problem(projection, 4096).rows, 4096u);
}

}  // namespace
}  // namespace tare::problem
