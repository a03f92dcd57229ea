// The arithmetic of the slab kernel's cuts: every one covers the whole projection, and what is
// chosen depends on k and n alone. Needs no GPU.
#include "kernels/cuda/slab_plan.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace tare::kernels::cuda {
namespace {

struct Shape {
  std::uint64_t k, n;
};
constexpr Shape kShapes[] = {{1, 1},       {31, 17},     {257, 67},    {1536, 256}, {1536, 1536},
                             {4096, 1024}, {4096, 4096}, {1536, 8960}, {8960, 1536}};

TEST(SlabPlan, EveryCutCoversTheProjection) {
  for (const auto [k, n] : kShapes)
    for (const bool clusters : {false, true})
      for (const SlabPlan& plan : slab_plans(k, n, clusters)) {
        EXPECT_GE(plan.padded_k(), k);
        EXPECT_GE(plan.padded_n(), n);
        EXPECT_LT(plan.padded_n(), n + plan.outputs_per_block());
        EXPECT_EQ(plan.blocks() * plan.outputs_per_block() * plan.depth_per_block() * 2,
                  plan.weight_bytes());
      }
}

TEST(SlabPlan, EveryCutFitsAMultiprocessor) {
  constexpr std::uint64_t kSharedBytes = 227
                                         << 10;  // a thread block's most on compute capability 9.0
  for (const auto [k, n] : kShapes)
    for (const SlabPlan& plan : slab_plans(k, n, true)) {
      EXPECT_LE(plan.threads(), 512U);
      EXPECT_LE(plan.steps, kMostSlabSteps);
      EXPECT_LE(plan.splits, 8U);
      EXPECT_EQ(plan.outputs_per_block() % (4 * plan.splits), 0U);
      EXPECT_LE(slab_shared_bytes(plan, kMostSlabRows), kSharedBytes);
    }
}

TEST(SlabPlan, WithoutClustersNothingIsSplit) {
  for (const auto [k, n] : kShapes)
    for (const SlabPlan& plan : slab_plans(k, n, false)) EXPECT_EQ(plan.splits, 1U);
}

TEST(SlabPlan, RegionsOfSharedMemoryDoNotOverlap) {
  for (const auto [k, n] : kShapes)
    for (const SlabPlan& plan : slab_plans(k, n, true))
      for (std::uint32_t rows = 1; rows <= kMostSlabRows; ++rows) {
        const SlabLayout layout = slab_layout(plan, rows);
        const std::uint32_t padded_rows = (rows + 7) / 8 * 8;
        EXPECT_GE(layout.partials, padded_rows * 2 * plan.depth_per_block());
        EXPECT_GE(layout.inbox - layout.partials,
                  plan.warps_k * padded_rows * plan.outputs_per_block() * 4);
        EXPECT_GE(layout.bytes - layout.inbox, padded_rows * plan.outputs_per_block() * 4);
        EXPECT_EQ(layout.input_pitch % 128, 64U);  // two rows touch all 32 banks once
      }
}

TEST(SlabPlan, AModelsProjectionsHaveOne) {
  for (const auto [k, n] : kShapes) {
    const auto plans = slab_plans(k, n, true);
    ASSERT_FALSE(plans.empty()) << k << "x" << n;
    const SlabPlan chosen = choose_slab_plan(plans);
    EXPECT_EQ(chosen, choose_slab_plan(slab_plans(k, n, true)));
    EXPECT_LE(static_cast<double>(chosen.weight_bytes()),
              1.15 * 2 * static_cast<double>(k * n) + 65536);
  }
}

}  // namespace
}  // namespace tare::kernels::cuda
