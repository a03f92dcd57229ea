#include "serve/kernel_sum.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tare::serve {
namespace {

plan::Decision decision(std::uint64_t k, std::uint64_t n, std::uint32_t rows, bool serves) {
  plan::Decision made;
  made.problem = {k, n, rows, TARE_GGUF_Q8_0, TARE_BF16_AS_INT8, TARE_BF16, TARE_F32, 0};
  made.decision = serves ? judge::Decision::kServe : judge::Decision::kKeep;
  made.incumbent_seconds = 3e-6;
  made.candidate_seconds = 2e-6;
  return made;
}

Projection product(const char* weights, std::uint64_t k, std::uint64_t n, std::uint32_t rows,
                   double seconds, const char* type = "q8_0") {
  return {weights, k, n, rows, type, "", seconds};
}

// Of a prompt of 32 tokens whose last token's logits are asked for.
std::vector<Projection> batch(double seconds) {
  return {product("q", 64, 128, 32, seconds), product("norm", 64, 128, 32, seconds, "f32"),
          product("down", 128, 64, 32, seconds), product("lm_head", 64, 1000, 1, seconds)};
}

std::vector<Projection> joined(std::vector<Projection> all, const std::vector<Projection>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

plan::Plan plan() {
  plan::Plan plan;
  plan.decisions = {decision(64, 128, 1, true), decision(64, 1000, 1, true),
                    decision(128, 64, 32, true), decision(64, 128, 32, false)};
  return plan;
}

TEST(KernelSum, TakesEveryProductAtItsOwnRowCount) {
  const KernelSum sum = kernel_sum(plan(), batch(4e-6), batch(3e-6), 1);
  EXPECT_EQ(sum.matrices, 4u);
  EXPECT_EQ(sum.served, 2u);  // down and lm_head
  EXPECT_DOUBLE_EQ(sum.incumbent_seconds, 6e-6);
  EXPECT_NEAR(sum.saved_seconds(), 2e-6, 1e-12);
  EXPECT_NEAR(sum.engine_seconds, 8e-6, 1e-12);
  EXPECT_NEAR(sum.saved_inside(), 2e-6, 1e-12);
}

TEST(KernelSum, CountsTheKernelOfSeveralOnce) {
  plan::Plan side_by_side;
  side_by_side.decisions = {decision(64, 300, 1, true), decision(64, 100, 1, true)};
  std::vector<Projection> products{product("q", 64, 200, 1, 4e-6), product("k", 64, 100, 1, 4e-6),
                                   product("o", 64, 100, 1, 4e-6)};
  products[0].together = products[1].together = 300;
  const KernelSum sum = kernel_sum(side_by_side, products, products, 1);
  EXPECT_EQ(sum.served, 3u);
  EXPECT_NEAR(sum.incumbent_seconds, 6e-6, 1e-12);
  EXPECT_NEAR(sum.candidate_seconds, 4e-6, 1e-12);
  EXPECT_EQ(serving(side_by_side, products[1])->problem.n, 300u);
  EXPECT_EQ(serving(side_by_side, products[2])->problem.n, 100u);
}

TEST(KernelSum, OfSeveralBatchesIsTheirMedian) {
  const auto without = joined(joined(batch(4e-6), batch(1)), batch(5e-6));
  const auto with = joined(joined(batch(3e-6), batch(3e-6)), batch(1));
  const KernelSum sum = kernel_sum(plan(), without, with, 3);
  EXPECT_EQ(sum.matrices, 4u);
  EXPECT_NEAR(sum.engine_seconds, 10e-6, 1e-12);
  EXPECT_NEAR(sum.served_seconds, 6e-6, 1e-12);
}

TEST(KernelSum, OfDifferentProductsIsNone) {
  EXPECT_THROW(kernel_sum(plan(), batch(1), joined(batch(1), batch(1)), 1), Error);
  EXPECT_THROW(kernel_sum(plan(), batch(1), batch(1), 3), Error);
}

}  // namespace
}  // namespace tare::serve
