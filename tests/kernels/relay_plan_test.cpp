// How a chain of projections is dealt to multiprocessors. Needs no GPU.
#include "kernels/cuda/relay_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tare::kernels::cuda {
namespace {

using Layer = std::vector<RelayShape>;

const Layer kQwen2{{1536, 2048}, {1536, 1536}, {1536, 17920}, {8960, 1536}};
const Layer kQwen3{{4096, 6144}, {4096, 4096}, {4096, 24576}, {12288, 4096}};

// Stages of a layer that a thread block fetches.
std::vector<std::uint64_t> loads(const RelayPlan& plan) {
  std::vector<std::uint64_t> loads(plan.blocks);
  for (std::size_t one = 0; one < plan.projections.size(); ++one)
    for (std::uint32_t rank = 0; rank < plan.blocks; ++rank)
      loads[rank] += std::uint64_t{plan.share(one, rank)} * plan.projections[one].stages;
  return loads;
}

TEST(RelayPlan, EveryStripIsDealtOnce) {
  for (const Layer& layer : {kQwen2, kQwen3, Layer{{64, 16}}, Layer{{128, 2048}, {1024, 64}}})
    for (const std::uint32_t blocks : {1U, 7U, 132U, 148U}) {
      const auto plan = plan_relay(layer, 1, blocks);
      ASSERT_TRUE(plan);
      for (std::size_t one = 0; one < layer.size(); ++one) {
        std::uint64_t dealt = 0;
        for (std::uint32_t rank = 0; rank < blocks; ++rank) dealt += plan->share(one, rank);
        EXPECT_EQ(dealt * plan->form.width, layer[one].n);
      }
    }
}

TEST(RelayPlan, PackedWeightsAreThoseOfTheMatrices) {
  for (const Layer& layer : {kQwen2, kQwen3}) {
    std::uint64_t bytes = 0;
    for (const RelayShape& shape : layer) bytes += 2 * shape.k * shape.n;
    EXPECT_EQ(plan_relay(layer, 28, 132)->weight_bytes(), 28 * bytes);
  }
}

// A chain is as slow as the thread block that has most of it.
TEST(RelayPlan, ThreadBlocksHaveEqualBytesUpToAStripOfTheLargest) {
  for (const Layer& layer : {kQwen2, kQwen3}) {
    const auto plan = plan_relay(layer, 28, 132);
    const auto all = loads(*plan);
    const auto [least, most] = std::ranges::minmax_element(all);
    EXPECT_LE(*most - *least, plan->projections[2].stages);
  }
}

TEST(RelayPlan, NoThreadBlockHasTwoStripsMoreOfASmallProjection) {
  const auto plan = plan_relay(kQwen2, 28, 132);
  for (const std::size_t one : {0U, 1U, 3U})
    for (std::uint32_t rank = 0; rank < plan->blocks; ++rank)
      EXPECT_LE(plan->share(one, rank), 1U) << one;
}

TEST(RelayPlan, StripsAreNarrowWhereWarpsHaveEnoughOfThem) {
  EXPECT_EQ(plan_relay(kQwen2, 28, 132)->form.width, 16U);
  EXPECT_EQ(plan_relay(kQwen3, 36, 132)->form.width, 8U);
}

TEST(RelayPlan, RefusesWhatTheKernelCannotRun) {
  const auto refused = [](const Layer& layer, std::uint32_t layers = 1) {
    return !plan_relay(layer, layers, 132).has_value();
  };
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused(Layer(kMostRelayProjections + 1, {64, 64})));
  EXPECT_TRUE(refused(kQwen2, 0));
  EXPECT_TRUE(refused({{100, 64}})) << "k that is no multiple of a stage's";
  EXPECT_TRUE(refused({{3136, 64}})) << "and of a narrow strip's";
  EXPECT_TRUE(refused({{64, 24}})) << "n that is no multiple of 16";
  EXPECT_TRUE(refused({{12416, 64}})) << "x that does not fit";
  EXPECT_TRUE(refused({{64, 64}, {128, 64}}))
      << "more inputs than the projection before has outputs";
  EXPECT_TRUE(refused({{128, 64}}, 2)) << "and across layers";
  EXPECT_FALSE(refused({{128, 64}}, 1));
  EXPECT_TRUE(refused({{0, 64}}));
  EXPECT_TRUE(refused({{64, 0}}));
  EXPECT_FALSE(plan_relay(kQwen2, 1, 0).has_value());
}

// 227 KiB a thread block, of compute capability 9.0 and 10.0.
TEST(RelayPlan, SharedMemoryIsEnough) {
  for (const Layer& layer : {kQwen2, kQwen3, Layer(kMostRelayProjections, {64, 64})})
    for (const std::uint32_t blocks : {132U, 148U})
      EXPECT_LE(relay_shared_bytes(*plan_relay(layer, 1, blocks)), 227U * 1024);
}

}  // namespace
}  // namespace tare::kernels::cuda
