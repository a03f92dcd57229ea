// Our kernels on a GPU, every cut of them: against sums in double, at every row count, with
// poison and guards; and that a row's bits depend neither on how many rows there are nor on its
// neighbours. Skips where there is no GPU.
#include "kernels/cuda/cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cuda/slab.h"

namespace tare::kernels::cuda {
namespace {

using Bf16 = std::uint16_t;

constexpr Bf16 kNan = 0x7fc1, kHuge = 0x7f00;
constexpr std::size_t kGuard = 64;  // values, on both sides of y

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

struct Shape {
  std::uint64_t k, n;
};

// Device memory that holds values.
class Values {
 public:
  explicit Values(const std::vector<Bf16>& values) : count_(values.size()) {
    EXPECT_EQ(cudaMalloc(&memory_, 2 * count_), cudaSuccess);
    put(values);
  }
  explicit Values(std::size_t bytes) : count_(bytes / 2) {
    EXPECT_EQ(cudaMalloc(&memory_, bytes), cudaSuccess);
  }
  ~Values() { cudaFree(memory_); }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  void put(const std::vector<Bf16>& values) const {
    EXPECT_EQ(cudaMemcpy(memory_, values.data(), 2 * values.size(), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  std::vector<Bf16> get() const {
    std::vector<Bf16> values(count_);
    EXPECT_EQ(cudaMemcpy(values.data(), memory_, 2 * count_, cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }
  Bf16* at(std::size_t index) const { return static_cast<Bf16*>(memory_) + index; }

 private:
  std::size_t count_;
  void* memory_ = nullptr;
};

class CutTest : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
      cudaGetLastError();
      GTEST_SKIP() << "no GPU";
    }
    support_ = slab_support();
    ASSERT_EQ(support_.error, cudaSuccess) << cudaGetErrorString(support_.error);
    seed_ = std::random_device{}();
    std::printf("seed %u\n", seed_);
    random_.seed(seed_);
  }

  std::vector<Bf16> drawn(std::size_t count) {
    std::normal_distribution<float> bell;
    std::vector<Bf16> values(count);
    for (Bf16& value : values) value = to_bf16(bell(random_));
    return values;
  }

  // y of `rows` rows, poisoned before; both guards must survive.
  static std::vector<Bf16> run(const CutPlan& plan, std::uint64_t n, std::uint32_t rows,
                               const Values& packed, const Values& x, Bf16 poison) {
    std::vector<Bf16> guarded(rows * n + 2 * kGuard, poison);
    const Values y(guarded);
    EXPECT_EQ(cut_run(plan, rows, packed.at(0), x.at(0), y.at(kGuard), false, nullptr),
              cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    guarded = y.get();
    for (std::size_t i = 0; i < kGuard; ++i) {
      EXPECT_EQ(guarded[i], poison) << "written before y";
      EXPECT_EQ(guarded[guarded.size() - 1 - i], poison) << "written past y";
    }
    return {guarded.begin() + kGuard, guarded.end() - kGuard};
  }

  SlabSupport support_;
  unsigned seed_ = 0;
  std::mt19937 random_;
};

// Half a bf16 step of the exact value, and what any order of f32 sums may lose: k 2^-23 (the tensor
// cores truncate) of the products' magnitudes.
std::size_t count_wrong(const std::vector<Bf16>& y, const std::vector<Bf16>& x,
                        const std::vector<Bf16>& w, const Shape& shape) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    double exact = 0, magnitude = 0;
    for (std::uint64_t j = 0; j < shape.k; ++j) {
      const double product = static_cast<double>(to_float(x[i / shape.n * shape.k + j])) *
                             static_cast<double>(to_float(w[i % shape.n * shape.k + j]));
      exact += product;
      magnitude += std::fabs(product);
    }
    const double slack =
        std::fabs(exact) / 256 + std::ldexp(static_cast<double>(shape.k), -23) * magnitude + 1e-38;
    const double off = std::fabs(static_cast<double>(to_float(y[i])) - exact);
    if (!(off <= slack)) ++wrong;
  }
  return wrong;
}

// The smallest; primes, so that every loop has a tail; k no multiple of 8, and of 8 but not of 32;
// a k/v projection of Qwen2.5-1.5B.
constexpr Shape kShapes[] = {{1, 1}, {257, 67}, {100, 31}, {264, 130}, {544, 200}, {1536, 256}};

TEST_F(CutTest, EveryCutComputesTheProduct) {
  for (const Shape& shape : kShapes) {
    const auto w = drawn(shape.k * shape.n), x = drawn(kMostCutRows * shape.k);
    const Values device_w(w), device_x(x);
    for (const CutPlan& plan : cut_plans(shape.k, shape.n, support_.clusters)) {
      SCOPED_TRACE(testing::Message() << shape.k << "x" << shape.n << " " << kernel_name(plan)
                                      << " " << describe(plan));
      const Values packed(weight_bytes(plan));
      ASSERT_EQ(cut_pack(plan, device_w.at(0), packed.at(0), nullptr), cudaSuccess);
      for (const std::uint32_t rows : {1U, 9U, 17U, 32U}) {
        ASSERT_EQ(cut_prepare(plan), cudaSuccess);
        const auto first = run(plan, shape.n, rows, packed, device_x, kNan);
        EXPECT_EQ(count_wrong(first, x, w, shape), 0U) << rows << " rows";
        EXPECT_EQ(run(plan, shape.n, rows, packed, device_x, kHuge), first) << rows << " rows";
      }
      if (HasFailure()) return;
    }
  }
}

TEST_F(CutTest, BitsOfARowDependOnNothingButTheRow) {
  const Shape shape{1536, 256};
  const auto w = drawn(shape.k * shape.n), x = drawn(kMostCutRows * shape.k);
  const Values device_w(w);
  for (const CutPlan& plan : cut_plans(shape.k, shape.n, support_.clusters)) {
    const Values packed(weight_bytes(plan)), device_x(x);
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
        ASSERT_TRUE(std::isnan(to_float(some[(rows - 1) * shape.n + i])));
    }
  }
}

TEST_F(CutTest, ManyRunsGiveOneResult) {
  const Shape shape{4096, 1024};
  const auto w = drawn(shape.k * shape.n), x = drawn(kMostCutRows * shape.k);
  const Values device_w(w), device_x(x);
  const CutPlan plan = choose_cut_plan(shape.k, shape.n, support_.clusters);
  const Values packed(weight_bytes(plan));
  ASSERT_EQ(cut_pack(plan, device_w.at(0), packed.at(0), nullptr), cudaSuccess);
  ASSERT_EQ(cut_prepare(plan), cudaSuccess);
  const auto first = run(plan, shape.n, 32, packed, device_x, kNan);
  for (int turn = 0; turn < 50; ++turn)
    ASSERT_EQ(run(plan, shape.n, 32, packed, device_x, turn % 2 == 0 ? kNan : kHuge), first);
}

}  // namespace
}  // namespace tare::kernels::cuda
