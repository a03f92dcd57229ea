// The choice of a kernel and a cut: one for k and n, among those that can run. Needs no GPU.
#include "kernels/cuda/cut_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace tare::kernels::cuda {
namespace {

struct Shape {
  std::uint64_t k, n;
};
constexpr Shape kShapes[] = {{1, 1},       {31, 17},      {257, 67},    {1536, 256},
                             {1536, 1536}, {4096, 1024},  {4096, 4096}, {1536, 8960},
                             {8960, 1536}, {4096, 12288}, {12288, 4096}};
constexpr std::uint64_t kSharedBytes = 227
                                       << 10;  // a thread block's most on compute capability 9.0

TEST(CutPlan, TheChoiceIsOneThatCanRun) {
  for (const auto [k, n] : kShapes) {
    const CutPlan chosen = choose_cut_plan(k, n, true);
    const auto plans = cut_plans(k, n, true);
    EXPECT_NE(std::ranges::find(plans, chosen), plans.end())
        << k << "x" << n << " " << describe(chosen);
    EXPECT_GE(weight_bytes(chosen), 2 * k * n);
  }
}

TEST(CutPlan, WithoutClustersThereAreSlabsAlone) {
  for (const auto [k, n] : kShapes)
    for (const CutPlan& plan : cut_plans(k, n, false)) EXPECT_STREQ(kernel_name(plan), "slab");
  EXPECT_STREQ(kernel_name(choose_cut_plan(1536, 1536, false)), "slab");
}

TEST(CutPlan, ALongDotProductIsRefusedWithAReason) {
  constexpr std::uint64_t kOdd = (1 << 20) + 1;  // no multiple of 32: no belt
  EXPECT_THROW(choose_cut_plan(kOdd, 64, true), Error);
}

TEST(CutPlan, ModelsReadLittleButTheirWeights) {
  for (const auto [k, n] : kShapes) {
    if (k * n < 100'000) continue;
    const auto bytes = static_cast<double>(weight_bytes(choose_cut_plan(k, n, true)));
    EXPECT_LE(bytes, 1.07 * 2 * static_cast<double>(k * n)) << k << "x" << n;
  }
}

TEST(BeltPlan, EveryCutCoversTheProjectionAndFits) {
  for (const auto [k, n] : kShapes)
    for (const BeltPlan& plan : belt_plans(k, n)) {
      EXPECT_EQ(k % 32, 0U);
      EXPECT_GE(plan.stages() * plan.splits * kStageDepth, k);
      EXPECT_GE(plan.column_blocks() * plan.width(), n);
      EXPECT_LE(plan.threads(), 608U);
      for (std::uint32_t rows = 1; rows <= kMostBeltRows; ++rows) {
        const BeltLayout layout = belt_layout(plan, rows);
        const std::uint32_t padded_rows = (rows + 7) / 8 * 8;
        EXPECT_GE(layout.stages, 2U);
        EXPECT_LE(layout.stages, 16U);  // the barriers' room
        EXPECT_GE(layout.stage_pitch, plan.stage_bytes() + padded_rows * layout.input_pitch);
        EXPECT_GE(layout.inbox, layout.partials + layout.stages * layout.stage_pitch);
        EXPECT_GE(layout.inbox,
                  layout.partials + plan.warps_k * padded_rows * layout.partial_pitch * 4);
        EXPECT_LE(plan.blocks_at_once * (layout.bytes + 1024), kSharedBytes + 1024);
      }
    }
}

}  // namespace
}  // namespace tare::kernels::cuda
