// Our kernels on a GPU, every cut of them and every type of weights: against sums in double, with
// poison and guards; and that a row's bits depend neither on how many rows there are nor on its
// neighbours. Skips where there is no GPU.
#include "kernels/cuda/cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "formats/decode.h"
#include "kernels/cuda/slab.h"
#include "prove/weights.h"
#include "tests/kernels/cuda_values.h"

namespace tare::kernels::cuda {
namespace {

constexpr Bf16 kNan = 0x7fc1, kHuge = 0x7f00;

struct Shape {
  std::uint64_t k, n;
};

// A kernel with a type of weights.
struct Kind {
  const char* name;
  const char* kernel;
  std::uint32_t weights;
};
constexpr Kind kKinds[] = {{"slab", "slab", TARE_BF16},
                           {"belt", "belt", TARE_BF16},
                           {"mlx_int4_g64", "grouped", TARE_MLX_INT4_G64},
                           {"int4_g128", "grouped", TARE_INT4_G128},
                           {"mlx_int8_g64", "grouped", TARE_MLX_INT8_G64},
                           {"int8_g128", "grouped", TARE_INT8_G128},
                           {"int8", "grouped", TARE_INT8_CHANNEL}};

class CutTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
    support_ = slab_support();
    ASSERT_EQ(support_.error, cudaSuccess) << cudaGetErrorString(support_.error);
    seed_ = std::random_device{}();
    std::printf("seed %u\n", seed_);
    random_.seed(seed_);
  }

  std::vector<Bf16> drawn(std::size_t count) {
    std::normal_distribution<float> bell;
    std::vector<Bf16> values(count);
    for (Bf16& value : values) value = narrow_unflushed(bell(random_));
    return values;
  }

  // Of the test's kernel; none where it does not take the shape.
  std::vector<CutPlan> plans(const Shape& shape) const {
    auto plans = cut_plans({GetParam().weights, shape.k, shape.n, support_.clusters});
    std::erase_if(plans, [](const CutPlan& plan) {
      return std::string(kernel_name(plan)) != GetParam().kernel;
    });
    return plans;
  }

  // W[n, k] as tare/arm.h lays it out.
  std::vector<std::byte> weights(const Shape& shape) const {
    const prove::WeightKey key{GetParam().weights, shape.k, shape.n, seed_, 0};
    std::vector<std::byte> bytes(prove::weight_buffer_bytes(key));
    prove::generate_slot(key, bytes.data());
    return bytes;
  }

  // The smallest; primes, so that every loop has a tail; k no multiple of 8, and of 8 but not of
  // 32; k in whole groups; a k/v projection of Qwen2.5-1.5B.
  std::vector<Shape> shapes() const {
    const auto block = formats::format_of(GetParam().weights).block;
    if (block > 1)
      return {{block, 1}, {3 * block, 67}, {5 * block, 130}, {9 * block, 200}, {1536, 256}};
    return {{1, 1}, {8, 3}, {257, 67}, {100, 31}, {264, 130}, {544, 200}, {1536, 256}};
  }

  // y of `rows` rows, poisoned before; both guards must survive.
  static std::vector<Bf16> run(const CutPlan& plan, std::uint64_t n, std::uint32_t rows,
                               const DeviceValues& packed, const DeviceValues& x, Bf16 poison,
                               const Bf16* bias = nullptr) {
    return outputs_of(rows * n, poison, [&](Bf16* y) {
      return cut_run(plan, rows, packed.at(0), x.at(0), y, {}, bias);
    });
  }

  SlabSupport support_;
  unsigned seed_ = 0;
  std::mt19937 random_;
};

// What a product is, and how far from it an output may be.
struct Truth {
  std::vector<double> exact, slack;  // [row][output]
};

// What f32 sums may lose: k steps over the products' magnitudes and, of codes, the 64 steps of a
// group's sum, whose terms are an operand and an offset of together at most 400 scales.
Truth truth_of(const std::vector<Bf16>& x, const std::vector<std::byte>& w, std::uint32_t type,
               const Shape& shape) {
  const formats::WeightFormat& format = formats::format_of(type);
  const bool codes = format.family != formats::Family::kPlain;
  const std::uint64_t rows = x.size() / shape.k;
  Truth truth{std::vector<double>(rows * shape.n), std::vector<double>(rows * shape.n)};
  std::vector<double> weights;
  formats::QuantisedRow quantised;
  for (std::uint64_t output = 0; output < shape.n; ++output) {
    formats::dequantise_row(format, shape.k, shape.n, w.data(), output, weights);
    if (codes) formats::decode_row(format, shape.k, shape.n, w.data(), output, quantised);
    for (std::uint64_t row = 0; row < rows; ++row) {
      double exact = 0, magnitude = 0;
      for (std::uint64_t j = 0; j < shape.k; ++j) {
        const double input = static_cast<double>(widen_unflushed(x[row * shape.k + j]));
        exact += input * weights[j];
        magnitude += static_cast<double>(shape.k) * std::fabs(input * weights[j]);
        if (codes)
          magnitude += 64 * 400 *
                       std::fabs(input * static_cast<double>(quantised.scale[j / quantised.group]));
      }
      truth.exact[row * shape.n + output] = exact;
      truth.slack[row * shape.n + output] = slack_of(exact, magnitude);
    }
  }
  return truth;
}

// The same with a bias: a bf16 step is then one of the sum of both.
Truth biased(Truth truth, const std::vector<Bf16>& bias) {
  for (std::size_t i = 0; i < truth.exact.size(); ++i) {
    const double sum = truth.exact[i];
    truth.exact[i] += static_cast<double>(widen_unflushed(bias[i % bias.size()]));
    truth.slack[i] += (std::fabs(truth.exact[i]) - std::fabs(sum)) / 256 +
                      std::ldexp(std::fabs(truth.exact[i]) + std::fabs(sum), -23);
  }
  return truth;
}

std::size_t count_wrong(const std::vector<Bf16>& y, const Truth& truth) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!is_within(truth.slack[i], y[i], truth.exact[i])) ++wrong;
  return wrong;
}

TEST_P(CutTest, EveryCutComputesTheProduct) {
  for (const Shape& shape : shapes()) {
    const auto w = weights(shape);
    const auto x = drawn(kMostCutRows * shape.k);
    const Truth truth = truth_of(x, w, GetParam().weights, shape);
    const DeviceValues device_w(w), device_x(x);
    for (const CutPlan& plan : plans(shape)) {
      SCOPED_TRACE(testing::Message() << shape.k << "x" << shape.n << " " << describe(plan));
      const DeviceValues packed(weight_bytes(plan));
      ASSERT_EQ(cut_pack(plan, device_w.at(0), packed.at(0), nullptr), cudaSuccess);
      for (const std::uint32_t rows : {1U, 9U, 17U, 32U}) {
        ASSERT_EQ(cut_prepare(plan), cudaSuccess);
        const auto first = run(plan, shape.n, rows, packed, device_x, kNan);
        EXPECT_EQ(count_wrong(first, truth), 0U) << rows << " rows";
        EXPECT_EQ(run(plan, shape.n, rows, packed, device_x, kHuge), first) << rows << " rows";
      }
      if (HasFailure()) return;
    }
  }
}

// A bias as large as the sums: one that is rounded apart is off by up to half a step more.
TEST_P(CutTest, ABiasIsAddedBeforeTheOneRounding) {
  for (const Shape& shape : shapes()) {
    const auto w = weights(shape);
    const auto x = drawn(kMostCutRows * shape.k), bias = drawn(shape.n);
    const Truth truth = biased(truth_of(x, w, GetParam().weights, shape), bias);
    const DeviceValues device_w(w), device_x(x), device_bias(bias);
    for (const CutPlan& plan : plans(shape)) {
      const DeviceValues packed(weight_bytes(plan));
      ASSERT_EQ(cut_pack(plan, device_w.at(0), packed.at(0), nullptr), cudaSuccess);
      ASSERT_EQ(cut_prepare(plan), cudaSuccess);
      for (const std::uint32_t rows : {1U, 9U, 32U})
        ASSERT_EQ(
            count_wrong(run(plan, shape.n, rows, packed, device_x, kNan, device_bias.at(0)), truth),
            0U)
            << rows << " rows, " << shape.k << "x" << shape.n << " " << describe(plan);
    }
  }
}

TEST_P(CutTest, BitsOfARowDependOnNothingButTheRow) {
  const Shape shape{1536, 256};
  const auto x = drawn(kMostCutRows * shape.k);
  const DeviceValues device_w(weights(shape));
  for (const CutPlan& plan : plans(shape)) {
    const DeviceValues packed(weight_bytes(plan)), device_x(x);
    ASSERT_EQ(cut_pack(plan, device_w.at(0), packed.at(0), nullptr), cudaSuccess);
    ASSERT_EQ(cut_prepare(plan), cudaSuccess);
    const auto all = run(plan, shape.n, kMostCutRows, packed, device_x, kNan);
    for (std::uint32_t rows = 1; rows < kMostCutRows; ++rows) {
      // Another place for each row, and a NaN in the row after the last.
      std::vector<Bf16> turned(x);
      std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(rows * shape.k),
                  turned.end());
      std::fill_n(turned.begin() + static_cast<std::ptrdiff_t>((rows - 1) * shape.k), shape.k,
                  kNan);
      device_x.put(turned);
      const auto some = run(plan, shape.n, rows, packed, device_x, kHuge);
      for (std::uint32_t row = 0; row + 1 < rows; ++row) {
        const std::size_t from = (row + rows) % kMostCutRows * shape.n;
        ASSERT_TRUE(std::equal(some.begin() + static_cast<std::ptrdiff_t>(row * shape.n),
                               some.begin() + static_cast<std::ptrdiff_t>((row + 1) * shape.n),
                               all.begin() + static_cast<std::ptrdiff_t>(from)))
            << rows << " rows, row " << row << ", " << describe(plan);
      }
      for (std::uint64_t i = 0; i < shape.n; ++i)
        ASSERT_TRUE(std::isnan(widen_unflushed(some[(rows - 1) * shape.n + i])));
    }
  }
}

TEST_P(CutTest, ManyRunsGiveOneResult) {
  const Shape shape{4096, 1024};
  const DeviceValues device_w(weights(shape)), device_x(drawn(kMostCutRows * shape.k));
  const std::vector<CutPlan> all = plans(shape);
  const CutPlan plan = all[all.size() / 2];
  const DeviceValues packed(weight_bytes(plan));
  ASSERT_EQ(cut_pack(plan, device_w.at(0), packed.at(0), nullptr), cudaSuccess);
  ASSERT_EQ(cut_prepare(plan), cudaSuccess);
  const auto first = run(plan, shape.n, 32, packed, device_x, kNan);
  for (int turn = 0; turn < 50; ++turn)
    ASSERT_EQ(run(plan, shape.n, 32, packed, device_x, turn % 2 == 0 ? kNan : kHuge), first);
}

// What scripts/cuda-sanitizers runs: tools that follow every access make all cuts take hours. Every
// number of splits, and every number of strips and pieces with some of them.
TEST_P(CutTest, SomeCutsForSanitizers) {
  const Shape shape{1152, 136};
  const auto w = weights(shape);
  const auto x = drawn(kMostCutRows * shape.k);
  const auto bias = drawn(shape.n);
  const Truth bare = truth_of(x, w, GetParam().weights, shape), with_bias = biased(bare, bias);
  const DeviceValues device_w(w), device_x(x), device_bias(bias);
  const std::vector<CutPlan> all = plans(shape);
  bool adds = false;  // every second cut has a bias
  for (std::size_t i = 0; i < all.size(); i += 1 + all.size() / 12, adds = !adds) {
    const Truth& truth = adds ? with_bias : bare;
    const Bf16* added = adds ? device_bias.at(0) : nullptr;
    const DeviceValues packed(weight_bytes(all[i]));
    ASSERT_EQ(cut_pack(all[i], device_w.at(0), packed.at(0), nullptr), cudaSuccess);
    ASSERT_EQ(cut_prepare(all[i]), cudaSuccess);
    for (const std::uint32_t rows : {1U, 9U, 32U})
      EXPECT_EQ(count_wrong(run(all[i], shape.n, rows, packed, device_x, kNan, added), truth), 0U)
          << rows << " rows, " << describe(all[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, CutTest, testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace tare::kernels::cuda
