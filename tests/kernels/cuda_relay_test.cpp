// The relay kernel on a GPU: every projection of a chain against sums in double of what the one
// before really gave; that a row's bits depend neither on how many rows there are nor on its
// neighbours; that many runs give one result. Skips where there is no GPU.
#include "kernels/cuda/relay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "kernels/cuda/slab.h"

namespace tare::kernels::cuda {
namespace {

using Bf16 = std::uint16_t;

float to_float(Bf16 bits) {
  const std::uint32_t word = std::uint32_t{bits} << 16U;
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

Bf16 to_bf16(float value) {
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return static_cast<Bf16>((word + 0x7fffU + ((word >> 16U) & 1U)) >> 16U);
}

class Memory {
 public:
  explicit Memory(std::size_t bytes) {
    EXPECT_EQ(cudaMalloc(&at_, bytes), cudaSuccess);
    EXPECT_EQ(cudaMemset(at_, 0xff, bytes), cudaSuccess);
  }
  explicit Memory(const std::vector<Bf16>& values) : Memory(2 * values.size()) { put(values); }
  ~Memory() { cudaFree(at_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void put(const std::vector<Bf16>& values) const {
    EXPECT_EQ(cudaMemcpy(at_, values.data(), 2 * values.size(), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  void* at() const { return at_; }

 private:
  void* at_ = nullptr;
};

class RelayTest : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
      cudaGetLastError();
      GTEST_SKIP() << "no GPU";
    }
    if (!slab_support().clusters) GTEST_SKIP() << "no GPU of compute capability 9.0";
    const unsigned seed = std::random_device{}();
    std::printf("seed %u\n", seed);
    random_.seed(seed);
  }

  std::vector<Bf16> drawn(std::size_t count, float scale) {
    std::normal_distribution<float> bell(0, scale);
    std::vector<Bf16> values(count);
    for (Bf16& value : values) value = to_bf16(bell(random_));
    return values;
  }

  // Weights of a chain, packed.
  struct Weights {
    std::vector<std::vector<Bf16>> plain;
    std::unique_ptr<Memory> packed;
  };
  Weights weights_of(const Relay& relay) {
    Weights weights;
    weights.packed = std::make_unique<Memory>(relay.weight_bytes());
    for (std::size_t i = 0; i < relay.steps().size(); ++i) {
      const RelayStep& step = relay.steps()[i];
      weights.plain.push_back(
          drawn(std::size_t{step.k} * step.n, 1 / std::sqrt(static_cast<float>(step.k))));
      const Memory plain(weights.plain.back());
      EXPECT_EQ(relay.pack(i, plain.at(), weights.packed->at(), nullptr), cudaSuccess);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    }
    return weights;
  }

  // Of each step: the columns that the next one reads, or all.
  static std::vector<std::vector<Bf16>> run(const Relay& relay, std::uint32_t rows,
                                            const Memory& packed, const Memory& x) {
    EXPECT_EQ(relay.run(rows, packed.at(), x.at(), nullptr), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    std::vector<std::vector<Bf16>> all;
    const auto& steps = relay.steps();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::size_t width = i + 1 < steps.size() ? steps[i + 1].k : steps[i].n;
      std::vector<Bf16> values(rows * width);
      EXPECT_EQ(cudaMemcpy2D(values.data(), 2 * width, relay.outputs(i), 2 * steps[i].n, 2 * width,
                             rows, cudaMemcpyDeviceToHost),
                cudaSuccess);
      all.push_back(std::move(values));
    }
    return all;
  }

  std::mt19937 random_;
};

// Half a bf16 step of the exact value, and 2^-23 of the magnitudes a step of an f32 sum.
std::size_t count_wrong(const std::vector<Bf16>& x, const std::vector<Bf16>& w,
                        const std::vector<Bf16>& y, std::uint32_t rows, const RelayStep& step) {
  const std::size_t width = y.size() / rows;
  std::size_t wrong = 0;
  for (std::uint32_t row = 0; row < rows; ++row)
    for (std::size_t output = 0; output < width; ++output) {
      double exact = 0, magnitude = 0;
      for (std::uint32_t j = 0; j < step.k; ++j) {
        const double product = static_cast<double>(to_float(x[row * step.k + j])) *
                               static_cast<double>(to_float(w[output * step.k + j]));
        exact += product;
        magnitude += std::fabs(product);
      }
      const double slack = std::fabs(exact) / 256 + std::ldexp(step.k * magnitude, -23) + 1e-38;
      if (!(std::fabs(static_cast<double>(to_float(y[row * width + output])) - exact) <= slack))
        ++wrong;
    }
  return wrong;
}

// One strip; fewer units than multiprocessors; more; parts that are uneven; a narrower x.
const std::vector<RelayShape> kSmall{{128, 128}, {128, 192}, {128, 2048}, {2048, 320}, {256, 64}};
const std::vector<RelayShape> kLayer{{1536, 2048}, {1536, 1536}, {1536, 17920}, {8960, 1536}};

TEST_F(RelayTest, EveryProjectionIsTheProductOfTheOneBefore) {
  for (const auto& chain : {kSmall, kLayer}) {
    const Relay relay(relay_steps(chain));
    ASSERT_EQ(relay.error(), cudaSuccess);
    const Weights weights = weights_of(relay);
    for (const std::uint32_t rows : {1U, 3U}) {
      const auto x = drawn(rows * relay.steps().front().k, 1);
      const auto y = run(relay, rows, *weights.packed, Memory(x));
      for (std::size_t i = 0; i < y.size(); ++i)
        EXPECT_EQ(
            count_wrong(i == 0 ? x : y[i - 1], weights.plain[i], y[i], rows, relay.steps()[i]), 0U)
            << "projection " << i << ", " << rows << " rows";
    }
  }
}

TEST_F(RelayTest, BitsOfARowDependOnNothingButTheRow) {
  const Relay relay(relay_steps(kSmall));
  const Weights weights = weights_of(relay);
  const std::size_t k = relay.steps().front().k, n = relay.steps().back().n;
  const auto x = drawn(kMostRelayRows * k, 1);
  const auto all = run(relay, kMostRelayRows, *weights.packed, Memory(x)).back();
  for (std::uint32_t rows = 1; rows < kMostRelayRows; ++rows) {
    // Another place for each row, and a NaN in the row after the last.
    std::vector<Bf16> turned(x);
    std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(rows * k),
                turned.end());
    std::fill_n(turned.begin() + static_cast<std::ptrdiff_t>((rows - 1) * k), k, Bf16{0x7fc1});
    const auto some = run(relay, rows, *weights.packed, Memory(turned)).back();
    for (std::uint32_t row = 0; row + 1 < rows; ++row)
      ASSERT_TRUE(
          std::equal(some.begin() + static_cast<std::ptrdiff_t>(row * n),
                     some.begin() + static_cast<std::ptrdiff_t>((row + 1) * n),
                     all.begin() + static_cast<std::ptrdiff_t>((row + rows) % kMostRelayRows * n)))
          << rows << " rows, row " << row;
  }
}

TEST_F(RelayTest, ManyRunsGiveOneResult) {
  const Relay relay(relay_steps(kLayer));
  const Weights weights = weights_of(relay);
  const Memory x(drawn(relay.steps().front().k, 1));
  const auto first = run(relay, 1, *weights.packed, x);
  for (int turn = 0; turn < 50; ++turn) ASSERT_EQ(run(relay, 1, *weights.packed, x), first);
}

// What scripts/cuda-sanitizers runs.
TEST_F(RelayTest, SomeChainForSanitizers) {
  const Relay relay(relay_steps(kSmall));
  const Weights weights = weights_of(relay);
  for (const std::uint32_t rows : {1U, 3U, kMostRelayRows}) {
    const auto x = drawn(rows * relay.steps().front().k, 1);
    const auto y = run(relay, rows, *weights.packed, Memory(x));
    for (std::size_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(count_wrong(i == 0 ? x : y[i - 1], weights.plain[i], y[i], rows, relay.steps()[i]),
                0U)
          << "projection " << i << ", " << rows << " rows";
  }
}

}  // namespace
}  // namespace tare::kernels::cuda
