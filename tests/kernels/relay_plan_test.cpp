// How a chain's projections are dealt to thread blocks. Needs no GPU.
#include "kernels/cuda/relay_plan.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tare::kernels::cuda {
namespace {

constexpr std::uint32_t kSharedBytes = 227 << 10;  // a thread block's most on 9.0

const std::vector<RelayShape> kQwen15{{1536, 2048}, {1536, 1536}, {1536, 17920}, {8960, 1536}};
const std::vector<RelayShape> kQwen8{{4096, 6144}, {4096, 4096}, {4096, 24576}, {12288, 4096}};
const std::vector<RelayShape> kSmall{{128, 128}, {128, 192}, {128, 2048}, {2048, 320}, {256, 64}};

TEST(RelaySteps, PartsCoverKWithoutGaps) {
  for (const auto& chain : {kQwen15, kQwen8, kSmall})
    for (const RelayStep& step : relay_steps(chain)) {
      EXPECT_EQ(step.first_stage(0), 0U);
      EXPECT_EQ(step.first_stage(step.parts) * kRelayDepth, step.k);
      for (std::uint32_t part = 0; part < step.parts; ++part) {
        const std::uint32_t stages = step.first_stage(part + 1) - step.first_stage(part);
        EXPECT_GE(stages, 1U);
        EXPECT_LE(stages, step.longest());
      }
    }
}

TEST(RelaySteps, EveryStageOfAUnitHasAPlaceOfItsOwn) {
  for (const auto& chain : {kQwen15, kQwen8, kSmall})
    for (const RelayStep& step : relay_steps(chain)) {
      std::vector<bool> taken(step.weight_bytes() / kRelayStageBytes);
      for (std::uint32_t unit = 0; unit < step.units(); ++unit)
        for (std::uint32_t stage = 0; stage < step.longest(); ++stage) {
          const std::size_t place = step.place_of(unit) + std::size_t{stage} * step.pitch_of(unit);
          ASSERT_LT(place, taken.size());
          EXPECT_FALSE(taken[place]);
          taken[place] = true;
        }
    }
}

// Of the models that docs/kernels/cuda-relay.md measures: turns are nearly full, and what a thread
// block reads of the sums in front is short.
TEST(RelaySteps, TheModelsFillTheGpu) {
  for (const auto& chain : {kQwen15, kQwen8}) {
    const auto steps = relay_steps(chain);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const RelayStep& step = steps[i];
      const std::uint32_t turns = (step.units() + kRelayBlocks - 1) / kRelayBlocks;
      EXPECT_GE(step.units(), 0.7 * turns * kRelayBlocks) << step.k << "x" << step.n;
      EXPECT_EQ(kRelayBlocks % step.parts, 0U);
      if (i > 0) {
        EXPECT_LE(step.longest() * kRelayDepth * steps[i - 1].parts, 6144U);
      }
    }
  }
}

TEST(RelayLayout, FitsAndHasRoomForSeveralStages) {
  for (const auto& chain : {kQwen15, kQwen8, kSmall})
    for (std::uint32_t rows = 1; rows <= kMostRelayRows; ++rows) {
      const auto steps = relay_steps(chain);
      const RelayLayout layout = relay_layout(steps, rows);
      EXPECT_GE(layout.stages, 2U);
      EXPECT_LE(layout.stages, 32U);
      EXPECT_EQ(layout.queue % 1024, 0U);
      EXPECT_GE(layout.inputs, layout.queue + layout.stages * kRelayStageBytes);
      EXPECT_EQ(layout.input_pitch % 128, 64U);
      EXPECT_GE(layout.sums, layout.inputs + rows * layout.input_pitch);
      EXPECT_GE(layout.steps, layout.sums + 4096);
      EXPECT_GE(layout.bytes, layout.steps + steps.size() * 32);
      EXPECT_LE(layout.bytes, kSharedBytes);
    }
}

TEST(RelaySteps, WhatIsNoChainIsRefused) {
  EXPECT_THROW(relay_steps({}), Error);
  EXPECT_THROW(relay_steps(std::vector<RelayShape>{{100, 64}}), Error);
  EXPECT_THROW(relay_steps(std::vector<RelayShape>{{128, 60}}), Error);
  EXPECT_THROW(relay_steps(std::vector<RelayShape>{{128, 64}, {128, 64}}), Error);  // reads past y
}

}  // namespace
}  // namespace tare::kernels::cuda
