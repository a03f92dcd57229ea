// The problem whose weights, activations and outputs are f32: asked of every module, which computes
// it near fp64 or refuses it with a reason.
#include <cmath>
#include <memory>
#include <random>

#include "tests/modules/drive.h"

namespace tare::tests {
namespace {

constexpr std::uint64_t kK = 259, kN = 67;
constexpr std::uint32_t kMostRows = 32;

class AllF32 : public testing::Test {
 protected:
  using Values = std::unique_ptr<float, decltype(&std::free)>;

  void SetUp() override {
    if (Module::under_test().arms.empty()) GTEST_SKIP() << Module::under_test().absent;
    std::normal_distribution<float> bell;
    for (std::uint64_t i = 0; i < kN * kK; ++i) weights_.get()[i] = bell(random_);
    for (std::uint64_t i = 0; i < kMostRows * kK; ++i) x_.get()[i] = bell(random_);
  }

  static Values allocate(std::uint64_t count) {
    const std::size_t bytes = (count * sizeof(float) + 63) / 64 * 64;
    return {static_cast<float*>(std::aligned_alloc(64, bytes)), &std::free};
  }

  static tare_problem problem(std::uint32_t rows) {
    return {kK, kN, rows, TARE_F32, TARE_F32, TARE_F32, TARE_F32, 0};
  }

  void expect_near(const float* y, std::uint32_t rows) const {
    for (std::uint32_t row = 0; row < rows; ++row)
      for (std::uint64_t j = 0; j < kN; ++j) {
        double exact = 0, magnitude = 0;
        for (std::uint64_t i = 0; i < kK; ++i) {
          const double product =
              static_cast<double>(x_.get()[row * kK + i]) * weights_.get()[j * kK + i];
          exact += product;
          magnitude += std::fabs(product);
        }
        // kK roundings to f32 of partial sums at most, in whatever order: had y been rounded to
        // bf16, 2^-9 of it would be lost.
        ASSERT_NEAR(y[row * kN + j], exact, static_cast<double>(kK) * std::ldexp(magnitude, -24))
            << "row " << row << " output " << j;
      }
  }

  void check(const tare_arm& arm) {
    SCOPED_TRACE(testing::Message() << arm.name << " seed " << seed_);
    char why[256] = "";
    tare_executor* executor = nullptr;
    const Values y = allocate(kMostRows * kN);
    for (const std::uint32_t rows : {1u, 7u, 32u, 2u}) {
      if (executor == nullptr || arm.set_rows(executor, rows, why, sizeof why) != 0) {
        if (executor != nullptr) arm.destroy(executor);
        const tare_problem own = problem(rows);
        ASSERT_EQ(arm.prepare(&own, 1, &executor, why, sizeof why), 0) << why;
        ASSERT_EQ(arm.bind(executor, 0, weights_.get(), why, sizeof why), 0) << why;
      }
      ASSERT_EQ(arm.enqueue(executor, 0, x_.get(), y.get()), 0);
      ASSERT_EQ(arm.fence(executor), 0);
      expect_near(y.get(), rows);
      if (HasFatalFailure()) break;
    }
    arm.destroy(executor);
  }

  const std::uint64_t seed_ = std::random_device{}();
  std::mt19937_64 random_{seed_};
  Values weights_ = allocate(kN * kK), x_ = allocate(kMostRows * kK);
};

TEST_F(AllF32, IsNearFp64OrIsRefusedWithAReason) {
  for (const tare_arm* arm : Module::under_test().arms) {
    if ((arm->flags & TARE_IS_LIMIT) != 0) continue;
    const std::string why = refusal(*arm, problem(1));
    if (why.empty())
      check(*arm);
    else
      EXPECT_NE(why, "(no reason given)") << arm->name;
  }
}

}  // namespace
}  // namespace tare::tests
