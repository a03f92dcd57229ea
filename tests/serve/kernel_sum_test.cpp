#include "serve/kernel_sum.h"

#include <gtest/gtest.h>

namespace tare::serve {
namespace {

plan::Decision decision(std::uint64_t k, std::uint64_t n, std::uint32_t rows, bool serves) {
  plan::Decision made;
  made.problem = {k, n, rows, TARE_GGUF_Q8_0, TARE_BF16_AS_INT8, TARE_BF16, TARE_F32};
  made.decision = serves ? judge::Decision::kServe : judge::Decision::kKeep;
  made.incumbent_seconds = 3e-6;
  made.candidate_seconds = 2e-6;
  made.prepared_bytes = 100;
  return made;
}

problem::Model model() {
  problem::Model model;
  model.projections = {{"q", 64, 128, 18, "Q8_0"},
                       {"down", 128, 64, 18, "Q8_0"},
                       {"norm", 64, 64, 5, "F32"},
                       {"lm_head", 64, 1000, 1, "Q8_0"}};
  return model;
}

TEST(KernelSum, CountsEveryServedMatrix) {
  plan::Plan plan;
  plan.decisions = {decision(64, 128, 1, true), decision(128, 64, 1, false),
                    decision(64, 1000, 1, true)};
  const KernelSum sum = kernel_sum(plan, model(), 1);
  EXPECT_EQ(sum.matrices, 42u);
  EXPECT_EQ(sum.served, 19u);
  EXPECT_DOUBLE_EQ(sum.incumbent_seconds, 19 * 3e-6);
  EXPECT_NEAR(sum.saved_seconds(), 19e-6, 1e-12);
  EXPECT_EQ(sum.packed_bytes, 1900u);
}

TEST(KernelSum, OfAPromptTakesItsRowsAndTheHeadOfOneRow) {
  plan::Plan plan;
  plan.decisions = {decision(64, 128, 1, true), decision(64, 1000, 1, true),
                    decision(128, 64, 32, true)};
  EXPECT_EQ(kernel_sum(plan, model(), 32).served, 19u);  // down and lm_head
}

}  // namespace
}  // namespace tare::serve
