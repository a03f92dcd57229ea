// Which matrices a chain holds: of the program, but about models alone.
#include "apps/tare/chain_plan.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "problem/projections.h"

namespace tare::app {
namespace {

// Two shapes a layer, of 64 and 512 bytes in bf16, and a head of 1600.
problem::Model model_of(std::uint64_t layers) {
  problem::ProjectionList list;
  list.add("q", 8, 4, layers, "");
  list.add("k", 8, 4, layers, "");
  list.add("down", 64, 4, layers, "");
  list.add({"lm_head", std::nullopt, 8, 100, ""});
  problem::Model model;
  model.name = "small";
  model.projections = list.merged();
  model.matrices = list.in_order();
  return model;
}

tare_problem bf16(const problem::Matrix& matrix) {
  return {matrix.k, matrix.n, 1, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0};
}

TEST(ChainPlan, HoldsEveryMatrixOnceOnASlotOfItsOwn) {
  const ChainPlan plan = plan_chain(model_of(3), bf16, 1e9);
  ASSERT_EQ(plan.parts.size(), 3u);
  EXPECT_EQ(plan.parts[0].count, 6u);  // q and k
  EXPECT_EQ(plan.parts[1].count, 3u);
  EXPECT_EQ(plan.parts[2].count, 1u);
  std::vector<std::pair<std::size_t, std::uint32_t>> steps;
  for (const ChainPlan::Step& step : plan.steps) steps.emplace_back(step.part, step.slot);
  const std::vector<std::pair<std::size_t, std::uint32_t>> expected{
      {0, 0}, {0, 1}, {1, 0}, {0, 2}, {0, 3}, {1, 1}, {0, 4}, {0, 5}, {1, 2}, {2, 0}};
  EXPECT_EQ(steps, expected);
  EXPECT_EQ(chain_name(plan), "chain of 3 layers");
}

// A layer is 64 + 64 + 512 bytes.
TEST(ChainPlan, KeepsTheFirstLayersThatFit) {
  const ChainPlan plan = plan_chain(model_of(5), bf16, 1600 + 3 * 640);
  EXPECT_EQ(plan.layers, 3u);
  EXPECT_EQ(plan.steps.size(), 3 * 3 + 1u) << "the head is in it";
  EXPECT_EQ(chain_name(plan), "chain of 3/5 layers");
}

// Half of 3000 is less than the head's 1600.
TEST(ChainPlan, LeavesOutAHeadThatLeavesLittleRoomForLayers) {
  const ChainPlan plan = plan_chain(model_of(5), bf16, 3000);
  EXPECT_EQ(plan.layers, 4u);
  EXPECT_EQ(plan.steps.size(), 4 * 3u);
  EXPECT_EQ(plan.parts.size(), 2u);
  EXPECT_EQ(chain_name(plan), "4/5 layers without lm_head");
}

TEST(ChainPlan, SaysWhenThereIsNone) {
  EXPECT_THROW(plan_chain(model_of(5), bf16, 639), Error);
  EXPECT_THROW(plan_chain(problem::Model{}, bf16, 1e9), Error);
}

}  // namespace
}  // namespace tare::app
