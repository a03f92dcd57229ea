// The choice of a kernel and a cut: one for k and n, among those that can run. Needs no GPU.
#include "kernels/cuda/cut_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "formats/weight_format.h"

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
    const CutPlan chosen = choose_cut_plan({TARE_BF16, k, n, true});
    if (const auto* belt = std::get_if<BeltPlan>(&chosen)) {
      EXPECT_TRUE(can_run(*belt)) << k << "x" << n << " " << describe(chosen);
    } else {
      const auto plans = cut_plans({TARE_BF16, k, n, true});
      EXPECT_NE(std::ranges::find(plans, chosen), plans.end())
          << k << "x" << n << " " << describe(chosen);
    }
    EXPECT_GE(weight_bytes(chosen), 2 * k * n);
  }
}

TEST(CutPlan, WithoutClustersThereAreSlabsAlone) {
  for (const auto [k, n] : kShapes)
    for (const CutPlan& plan : cut_plans({TARE_BF16, k, n, false}))
      EXPECT_STREQ(kernel_name(plan), "slab");
  EXPECT_STREQ(kernel_name(choose_cut_plan({TARE_BF16, 1536, 1536, false})), "slab");
}

TEST(CutPlan, ALongDotProductIsRefusedWithAReason) {
  constexpr std::uint64_t kOdd = (1 << 20) + 1;  // no multiple of 8: no belt
  EXPECT_THROW(choose_cut_plan({TARE_BF16, kOdd, 64, true}), Error);
}

TEST(CutPlan, ModelsReadLittleButTheirWeights) {
  for (const auto [k, n] : kShapes) {
    if (k * n < 100'000) continue;
    const auto bytes = static_cast<double>(weight_bytes(choose_cut_plan({TARE_BF16, k, n, true})));
    EXPECT_LE(bytes, 1.07 * 2 * static_cast<double>(k * n)) << k << "x" << n;
  }
}

constexpr std::uint32_t kGroupedTypes[] = {TARE_MLX_INT4_G64, TARE_INT4_G128, TARE_MLX_INT8_G64,
                                           TARE_INT8_G128, TARE_INT8_CHANNEL};

TEST(CutPlan, WeightsByGroupHaveOneChoiceThatCanRun) {
  for (const std::uint32_t type : kGroupedTypes)
    for (const auto [k, n] : kShapes) {
      if (k % 128 != 0) continue;
      const CutPlan chosen = choose_cut_plan({type, k, n, true});
      ASSERT_STREQ(kernel_name(chosen), "grouped");
      EXPECT_TRUE(can_run(std::get<GroupedPlan>(chosen)))
          << k << "x" << n << " " << describe(chosen);
      EXPECT_EQ(choose_cut_plan({type, k, n, true}), chosen);
      const double bytes = formats::weight_bytes(type, k, n);
      EXPECT_GE(static_cast<double>(weight_bytes(chosen)), bytes);
      // One scale an output is repeated for each 128.
      if (k * n > 100'000) {
        EXPECT_LE(static_cast<double>(weight_bytes(chosen)), 1.09 * bytes);
      }
    }
}

// A measured cut that cannot run would be left for another without a word.
TEST(CutPlan, MeasuredCutsOfWeightsByGroupAreThoseChosen) {
  const auto chosen = [](std::uint32_t type, std::uint64_t k, std::uint64_t n) {
    return std::get<GroupedPlan>(choose_cut_plan({type, k, n, true}));
  };
  for (const std::uint32_t type : {TARE_MLX_INT4_G64, TARE_INT4_G128}) {
    EXPECT_EQ(chosen(type, 4096, 12288),
              (GroupedPlan{type, 4096, 12288, 1, 2, 0, 0, 1, 1, 4, 2, 0, 4}));
    EXPECT_EQ(chosen(type, 12288, 4096),
              (GroupedPlan{type, 12288, 4096, 4, 2, 0, 2, 1, 2, 2, 3, 5, 3}));
    EXPECT_EQ(chosen(type, 4096, 24576), (GroupedPlan{type, 4096, 24576, 2, 1, 0, 1, 2, 4, 2, 4}));
  }
  for (const std::uint32_t type : {TARE_MLX_INT8_G64, TARE_INT8_G128, TARE_INT8_CHANNEL})
    EXPECT_EQ(chosen(type, 4096, 4096), (GroupedPlan{type, 4096, 4096, 4, 2, 0, 1, 1, 1, 1, 3}));
}

TEST(CutPlan, WeightsByGroupAreRefusedWithAReason) {
  EXPECT_THROW(choose_cut_plan({TARE_MLX_INT4_G64, 1536, 1536, false}), Error);  // no clusters
  EXPECT_THROW(choose_cut_plan({TARE_INT8_CHANNEL, 1537, 64, true}), Error);  // rows of x unaligned
  EXPECT_THROW(choose_cut_plan({TARE_GGUF_Q4_K, 1536, 64, true}), Error);
}

// Where a queue's parts lie in shared memory.
void expect_room(const QueueLayout& layout, const QueueShape& shape, std::uint32_t rows) {
  const std::uint32_t padded_rows = (rows + 7) / 8 * 8;
  EXPECT_GE(layout.stages, 2U);
  EXPECT_LE(layout.stages, kMostQueueStages);
  EXPECT_EQ(layout.partials % 1024, 0U);  // boxes are permuted by address
  EXPECT_EQ(layout.stage_pitch % 1024, 0U);
  EXPECT_EQ(layout.inputs % 1024, 0U);
  EXPECT_GE(layout.partials, (2 * kMostQueueStages + 1) * 8);
  EXPECT_GE(layout.inputs, shape.stage_bytes);
  EXPECT_GE(layout.stage_pitch, layout.inputs + padded_rows * 2 * shape.depth);
  const std::uint64_t sums =
      shape.direct ? 0 : shape.pieces * padded_rows * layout.partial_pitch * 4;
  EXPECT_GE(layout.inbox, layout.partials + layout.stages * layout.stage_pitch);
  EXPECT_GE(layout.inbox, layout.partials + sums);
  const std::uint64_t inbox = shape.splits > 1 ? padded_rows * shape.width * 4 : 0;
  EXPECT_GE(layout.held, layout.inbox + inbox);
  EXPECT_GE(layout.bytes, layout.held + 2 * shape.held_depth * rows);
  EXPECT_LE(shape.blocks_at_once * (layout.bytes + 1024), kSharedBytes + 1024);
}

TEST(QueuePlan, TheNextDispatchStartsAtOnceOrWhenAStageIsAskedFor) {
  EXPECT_EQ(asked_stages(16, 0), 0U);
  EXPECT_EQ(asked_stages(16, 6), 12U);
  EXPECT_EQ(asked_stages(1, 1), 1U);
  for (std::uint64_t stages = 1; stages <= 200; ++stages)
    for (std::uint32_t eighths = 1; eighths <= kEighths; ++eighths) {
      EXPECT_GE(asked_stages(stages, eighths), 1U);
      EXPECT_LE(asked_stages(stages, eighths), stages) << "a launch would never let it start";
    }
}

TEST(BeltPlan, EveryCutCoversTheProjectionAndFits) {
  for (const auto [k, n] : kShapes)
    for (const BeltPlan& plan : belt_plans(k, n)) {
      EXPECT_EQ(k % 8, 0U);
      EXPECT_GE(plan.stages() * plan.splits * kStageDepth, k);
      for (std::uint32_t rows = 1; rows <= kMostBeltRows; ++rows) {
        const BeltLaunch& launch = plan.launch(rows);
        EXPECT_GE(plan.blocks(rows) / plan.cluster(rows) * launch.width(), n);
        EXPECT_LE(plan.threads(rows), 544U);
        EXPECT_EQ(launch.width() % (std::uint64_t{4} * plan.cluster(rows)), 0U);
        expect_room(belt_layout(plan, rows),
                    {plan.stages(), launch.stage_bytes(), kStageDepth, 0, launch.width(),
                     plan.warps_k, plan.cluster(rows), launch.blocks_at_once, plan.direct(rows)},
                    rows);
      }
    }
}

// Codes in registers: 64 of a thread's, of at most 16 warps; x, scales and sums behind each other.
void expect_early(const GroupedPlan& plan, std::uint32_t rows) {
  const GroupedFormat& format = *grouped_format(plan.type);
  const GroupedLaunch launch = plan.launch(rows);
  const EarlyLayout layout = early_layout(plan, rows);
  EXPECT_LE(rows, plan.early_rows);
  EXPECT_EQ(launch.consumers * plan.early_units(), plan.stages() * plan.parts * kStageUnits);
  EXPECT_LE(plan.early_units() * format.bits * kGroupedOutputs * kUnitDepth / 32, 64U * 32U);
  EXPECT_LE(launch.consumers, kMostEarlyWarps);
  const std::uint64_t units = launch.consumers * plan.early_units();
  EXPECT_GE(layout.scales, units * rows * kUnitDepth * 2);
  EXPECT_GE(layout.converted, layout.scales + units * kGroupedOutputs * format.scale_bytes);
  EXPECT_GE(layout.partials, layout.converted + units * kGroupedOutputs * 8);
  EXPECT_GE(layout.bytes, layout.partials + launch.consumers * rows * kGroupedOutputs * 4);
  EXPECT_LE(layout.bytes, kSharedBytes);
}

TEST(GroupedPlan, EveryCutCoversTheProjectionAndFits) {
  constexpr std::uint64_t kRegisters = 65536;
  for (const std::uint32_t type : kGroupedTypes)
    for (const auto [k, n] :
         {Shape{128, 1}, Shape{1152, 136}, Shape{4096, 4096}, Shape{8960, 1536}})
      for (const GroupedPlan& plan : grouped_plans(type, k, n)) {
        EXPECT_GE(plan.stages() * plan.parts * kGroupedDepth, k);
        EXPECT_GE(plan.column_strips() * kGroupedOutputs, n);
        for (std::uint32_t rows = 1; rows <= kMostGroupedRows; ++rows) {
          const GroupedLaunch launch = plan.launch(rows);
          EXPECT_EQ(launch.splits * launch.folds, plan.parts);
          EXPECT_EQ(launch.blocks * launch.strips, plan.column_strips() * launch.splits);
          EXPECT_EQ(launch.consumers, launch.strips * launch.folds * plan.warps_k);
          if (launch.way == GroupedWay::kEarly) {
            expect_early(plan, rows);
            continue;
          }
          const bool held = launch.way == GroupedWay::kHeld;
          EXPECT_EQ(held, rows <= plan.held_rows);
          EXPECT_LE(32 * (launch.consumers + 1) * 128U, kRegisters);
          const std::uint64_t stage =
              std::uint64_t{launch.folds} * launch.strips * grouped_format(type)->strip_bytes;
          expect_room(grouped_layout(plan, rows),
                      {plan.stages(), stage, held ? 0 : kGroupedDepth,
                       held ? plan.stages() * plan.parts * kGroupedDepth : 0,
                       std::uint64_t{kGroupedOutputs} * launch.strips, plan.warps_k * launch.folds,
                       launch.splits, launch.blocks_at_once},
                      rows);
        }
      }
}

// Packing goes from a place to what belongs there, a launch from what it wants to its place.
TEST(QueueOrder, EveryStripHasOnePlace) {
  const std::uint32_t stages = 3;
  for (const QueueOrder order : {QueueOrder{1, 1, 1}, QueueOrder{5, 1, 2}, QueueOrder{3, 4, 8}}) {
    std::vector<bool> taken(std::size_t{stages} * order.parts * order.columns * order.strips);
    for (std::uint32_t stage = 0; stage < stages; ++stage)
      for (std::uint32_t part = 0; part < order.parts; ++part)
        for (std::uint32_t strip = 0; strip < order.columns * order.strips; ++strip) {
          const std::uint64_t place = order.place_of(stage, part, strip);
          ASSERT_LT(place, taken.size());
          EXPECT_FALSE(taken[place]);
          taken[place] = true;
          const QueueOrder::Strip back = order.strip_at(place);
          EXPECT_EQ(back.stage, stage);
          EXPECT_EQ(back.part, part);
          EXPECT_EQ(back.strip, strip);
        }
  }
}

// A thread block copies its strips of a part in one piece, however many a launch gives it.
TEST(GroupedPlan, StripsOfAThreadBlockLieTogether) {
  for (const GroupedPlan& plan : grouped_plans(TARE_MLX_INT4_G64, 4096, 1000)) {
    const QueueOrder order = plan.order();
    EXPECT_EQ(order.columns * order.strips, plan.column_strips());
    EXPECT_EQ(plan.stages() * order.parts * order.columns * order.strips *
                  grouped_format(plan.type)->strip_bytes,
              plan.weight_bytes());
    for (const std::uint32_t rows : {1U, 8U, 9U, 32U}) {
      const GroupedLaunch launch = plan.launch(rows);
      for (std::uint32_t strip = 0; strip < plan.column_strips(); strip += launch.strips)
        EXPECT_EQ(order.place_of(0, 0, strip + launch.strips - 1),
                  order.place_of(0, 0, strip) + launch.strips - 1);
    }
  }
}

}  // namespace
}  // namespace tare::kernels::cuda
