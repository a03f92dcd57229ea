// A matrix packed for an engine: near the fp64 product, and the same bits whatever the threads.
#include "packed_matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "formats/decode.h"
#include "prove/weights.h"

namespace tare::llama {
namespace {

constexpr std::uint64_t kK = 512, kN = 200, kRows = 3;

class EveryType : public testing::TestWithParam<std::uint32_t> {};

TEST_P(EveryType, IsNearFp64WhateverTheThreads) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const prove::WeightKey key{GetParam(), kK, kN, seed, 0};
  std::vector<std::byte> weights(prove::weight_buffer_bytes(key));
  prove::generate_slot(key, weights.data());
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  const Kernel kernel =
      kernel_of(GetParam() == TARE_BF16 ? "tare-panel-ggml" : "tare-grouped", GetParam()).value();
  std::vector<float> x(kRows * kK), first;
  for (float& one : x) one = normal(random);
  for (const std::uint32_t threads : {1u, 2u, 5u}) {
    const Team team(threads);
    Workspace workspace;
    const PackedMatrix matrix(kernel.kind, GetParam(), kK, kN, weights.data(), team);
    std::vector<float> y(kRows * kN, NAN);
    matrix.multiply(kernel, x.data(), y.data(), kRows, team, workspace);
    if (first.empty()) first = y;
    ASSERT_EQ(y, first) << threads << " threads";
  }
  std::vector<double> w;
  for (std::uint64_t j = 0; j < kN; ++j) {
    formats::dequantise_row(formats::format_of(GetParam()), kK, kN, weights.data(), j, w);
    for (std::uint64_t r = 0; r < kRows; ++r) {
      double exact = 0, allowed = 0;
      for (std::uint64_t i = 0; i < kK; ++i) {
        exact += x[r * kK + i] * w[i];
        // Half of one of 127 steps of the largest |x|, at most 6 of a normal's deviations here;
        // bf16's rounding is less.
        allowed += std::abs(w[i]) * 6 / 127 * 0.51;
      }
      ASSERT_NEAR(first[r * kN + j], exact, allowed) << "row " << r << " output " << j;
    }
  }
}

TEST(KernelOf, IsOfTheArmThatWasWeighed) {
  EXPECT_STREQ(kernel_of("tare-panel", TARE_BF16)->panel->name, "tare-panel");
  EXPECT_STREQ(kernel_of("tare-panel-ggml", TARE_BF16)->panel->name, "tare-panel-ggml");
  EXPECT_EQ(kernel_of("tare-grouped", TARE_GGUF_Q4_K)->kind, Kernel::Kind::kGroups);
  EXPECT_FALSE(kernel_of("tare-grouped", TARE_BF16));
  EXPECT_FALSE(kernel_of("tare-panel", TARE_GGUF_Q4_K));
  EXPECT_FALSE(kernel_of("tare-panel-mlx", TARE_BF16));
  EXPECT_FALSE(kernel_of("tare-dot-ggml", TARE_GGUF_Q4_K));
  EXPECT_FALSE(kernel_of("somebody-elses", TARE_GGUF_Q4_K));
}

TEST(Dots, HaveTheSumsOfPanelsInGgmlsOrder) {
  const auto dots = kernel_of("tare-dot-ggml", TARE_BF16);
  if (!dots) GTEST_SKIP() << "no AVX-512 BF16 here";
  const Kernel panels = kernel_of("tare-panel-ggml", TARE_BF16).value();
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  constexpr std::uint64_t kAnyN = 204;
  const prove::WeightKey key{TARE_BF16, kK, kAnyN, seed, 0};
  std::vector<std::byte> weights(prove::weight_buffer_bytes(key));
  prove::generate_slot(key, weights.data());
  const Team team(2);
  Workspace workspace;
  for (const std::uint32_t rows : {1u, 2u, 3u, 4u, 5u, 32u}) {
    std::vector<float> x(rows * kK), a(rows * kAnyN, NAN), b(rows * kAnyN, NAN);
    for (float& one : x) one = normal(random);
    const auto multiply = [&](const Kernel& kernel, std::vector<float>& y) {
      PackedMatrix(kernel.kind, TARE_BF16, kK, kAnyN, weights.data(), team)
          .multiply(kernel, x.data(), y.data(), rows, team, workspace);
    };
    multiply(*dots, a);
    multiply(panels, b);
    EXPECT_EQ(a, b) << rows << " rows";
  }
}

INSTANTIATE_TEST_SUITE_P(Integrations, EveryType,
                         testing::Values(TARE_BF16, TARE_GGUF_Q8_0, TARE_GGUF_Q4_0, TARE_GGUF_Q5_0,
                                         TARE_GGUF_Q4_K, TARE_GGUF_Q6_K));

}  // namespace
}  // namespace tare::llama
