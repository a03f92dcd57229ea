// A chain in one kernel: every projection against sums in double of what the one before gave, and
// that bits depend neither on how the chain is dealt nor on what ran before. Skips where there is
// no GPU.
#include "kernels/cuda/relay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/kernels/cuda_values.h"

namespace tare::kernels::cuda {
namespace {

constexpr Bf16 kNan = 0x7fc1;

using Layer = std::vector<RelayShape>;

// Narrow strips need a k of 3072; wide ones have tails where warps have unequal numbers of stages,
// and fewer strips than thread blocks. An x is shorter than the outputs before it.
const Layer kNarrow{{3072, 3216}, {3200, 3088}};
const Layer kWide{{64, 2048}, {1536, 272}, {256, 64}};

class RelayTest : public testing::TestWithParam<std::pair<const char*, Layer>> {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
    int major = 0, processors = 0;
    ASSERT_EQ(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), cudaSuccess);
    if (major < 9) GTEST_SKIP() << "compute capability below 9.0";
    ASSERT_EQ(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
    processors_ = static_cast<std::uint32_t>(processors);
    ASSERT_EQ(relay_prepare(), cudaSuccess);
    const unsigned seed = std::random_device{}();
    std::printf("seed %u\n", seed);
    random_.seed(seed);
    for (int layer = 0; layer < kLayers; ++layer)
      for (const RelayShape& shape : layer_of())
        weights_.push_back(drawn(shape.k * shape.n, 2 / std::sqrt(static_cast<float>(shape.k))));
    x_ = drawn(layer_of().front().k, 1);
  }

  static constexpr int kLayers = 3;
  static const Layer& layer_of() { return GetParam().second; }

  std::vector<Bf16> drawn(std::size_t count, float scale) {
    std::uniform_real_distribution<float> even(-scale, scale);
    std::vector<Bf16> values(count);
    for (Bf16& value : values) value = narrow_unflushed(even(random_));
    return values;
  }

  // The chain's first projections, on a number of thread blocks.
  class Chain {
   public:
    Chain(const Layer& layer, std::uint32_t layers, std::uint32_t blocks,
          const std::vector<std::vector<Bf16>>& weights, std::size_t first = 0)
        : plan_(*plan_relay(layer, layers, blocks)),
          packed_(plan_.weight_bytes()),
          memory_(relay_memory_bytes(plan_)) {
      for (std::uint32_t i = 0; i < plan_.steps(); ++i) {
        const DeviceValues w(weights[first + i]);
        const auto count = static_cast<std::uint32_t>(layer.size());
        EXPECT_EQ(relay_pack(plan_, i / count, i % count, w.at(0), packed_.at(0), nullptr),
                  cudaSuccess);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      }
      EXPECT_EQ(relay_ready(plan_, memory_.at(0), nullptr), cudaSuccess);
    }

    std::vector<Bf16> run(const std::vector<Bf16>& x,
                          RelayCopies copies = RelayCopies::kAtOnce) const {
      const std::uint64_t n = plan_.projections.back().n;
      const DeviceValues device_x(x);
      return outputs_of(n, kNan, [&](Bf16* y) {
        return relay_run(plan_, packed_.at(0), device_x.at(0), y, memory_.at(0), nullptr, copies);
      });
    }

   private:
    RelayPlan plan_;
    DeviceValues packed_, memory_;
  };

  // Outputs that are further from sums in double than they may be.
  static std::size_t count_wrong(const std::vector<Bf16>& y, const std::vector<Bf16>& x,
                                 const std::vector<Bf16>& w, const RelayShape& shape) {
    std::size_t wrong = 0;
    for (std::uint64_t output = 0; output < shape.n; ++output) {
      double exact = 0, magnitude = 0;
      for (std::uint64_t j = 0; j < shape.k; ++j) {
        const double product = static_cast<double>(widen_unflushed(x[j])) *
                               static_cast<double>(widen_unflushed(w[output * shape.k + j]));
        exact += product;
        magnitude += std::fabs(product);
      }
      const double slack = slack_of(exact, static_cast<double>(shape.k) * magnitude);
      if (!is_within(slack, y[output], exact)) ++wrong;
    }
    return wrong;
  }

  std::uint32_t processors_ = 0;
  std::mt19937 random_;
  std::vector<std::vector<Bf16>> weights_;  // [layer][projection]
  std::vector<Bf16> x_;
};

// Longer and longer chains: the last projection of each reads what the one before it gave.
TEST_P(RelayTest, EveryProjectionOfALayerIsTheProduct) {
  std::vector<Bf16> before = x_;
  for (std::size_t length = 1; length <= layer_of().size(); ++length) {
    // The first k decides about the width, so that shorter chains have the same.
    const Layer part(layer_of().begin(), layer_of().begin() + static_cast<std::ptrdiff_t>(length));
    const auto y = Chain(part, 1, processors_, weights_).run(x_);
    EXPECT_EQ(count_wrong(y, before, weights_[length - 1], part.back()), 0U) << length;
    before = y;
  }
}

TEST_P(RelayTest, LayersFollowEachOther) {
  std::vector<Bf16> y = x_;
  for (std::size_t layer = 0; layer < kLayers; ++layer)
    y = Chain(layer_of(), 1, processors_, weights_, layer * layer_of().size()).run(y);
  EXPECT_EQ(Chain(layer_of(), kLayers, processors_, weights_).run(x_), y);
}

TEST_P(RelayTest, BitsDependNeitherOnTheDealNorOnTheLaunch) {
  const Chain all(layer_of(), kLayers, processors_, weights_);
  const auto y = all.run(x_);
  for (int turn = 0; turn < 50; ++turn) {
    // Another x between two of them: nothing of it may be taken for ours.
    all.run(std::vector<Bf16>(x_.size(), narrow_unflushed(static_cast<float>(turn))));
    ASSERT_EQ(all.run(x_), y) << turn;
  }
  for (const std::uint32_t blocks : {1U, 5U, processors_ - 1})
    EXPECT_EQ(Chain(layer_of(), kLayers, blocks, weights_).run(x_), y) << blocks;
}

// No number of the chain is mistaken for one that is not there yet.
TEST_P(RelayTest, NanAndInfinityPassThrough) {
  const Chain chain(layer_of(), kLayers, processors_, weights_);
  for (const Bf16 bits : {Bf16{0xffff}, Bf16{0x7fff}, Bf16{0x7f80}, Bf16{0xff80}})
    for (const Bf16 value : chain.run(std::vector<Bf16>(x_.size(), bits)))
      ASSERT_TRUE(std::isnan(widen_unflushed(value))) << bits;
}

TEST_P(RelayTest, MoreThreadBlocksThanMultiprocessorsAreRefused) {
  const auto plan = *plan_relay(layer_of(), 1, processors_ + 1);
  const DeviceValues packed(plan.weight_bytes()), memory(relay_memory_bytes(plan)), x(x_),
      y(std::size_t{2} * plan.projections.back().n);
  ASSERT_EQ(relay_ready(plan, memory.at(0), nullptr), cudaSuccess);
  EXPECT_EQ(relay_run(plan, packed.at(0), x.at(0), y.at(0), memory.at(0), nullptr),
            cudaErrorCooperativeLaunchTooLarge);
  cudaGetLastError();
}

TEST_P(RelayTest, BitsDoNotDependOnHowCopiesAreAskedFor) {
  const Chain chain(layer_of(), kLayers, processors_, weights_);
  EXPECT_EQ(chain.run(x_, RelayCopies::kOneByOne), chain.run(x_, RelayCopies::kAtOnce));
}

// What scripts/cuda-sanitizers runs.
TEST_P(RelayTest, SomeCutsForSanitizers) {
  constexpr auto kCopies = RelayCopies::kOneByOne;
  const auto y = Chain(layer_of(), 1, processors_, weights_).run(x_, kCopies);
  const Chain chain(layer_of(), 2, processors_, weights_);
  const auto twice = chain.run(x_, kCopies);
  EXPECT_EQ(Chain(layer_of(), 1, processors_, weights_, layer_of().size()).run(y, kCopies), twice);
  EXPECT_EQ(chain.run(x_, kCopies), twice);
}

INSTANTIATE_TEST_SUITE_P(Widths, RelayTest,
                         testing::Values(std::pair{"relay8", kNarrow}, std::pair{"relay16", kWide}),
                         [](const auto& one) { return std::string(one.param.first); });

}  // namespace
}  // namespace tare::kernels::cuda
