// 0 differing bits of the arm tare-panel-mlx against the arm mlx, both loaded as the arm host loads
// them, where there is MLX.
#include <array>
#include <random>

#include "tests/kernels/prepared.h"

namespace tare::kernels {
namespace {

class MlxBits : public testing::Test {
 protected:
  void SetUp() override {
    if (!theirs_module_.loaded()) GTEST_SKIP() << "no module mlx: scripts/setup fetches MLX";
    theirs_ = theirs_module_.arm(0);
    ours_ = ours_module_.arm(3);
    ASSERT_STREQ(ours_->name, "tare-panel-mlx");
    char why[256] = "";
    ASSERT_EQ(theirs_->open(&services_, why, sizeof why), 0) << why;
    ASSERT_EQ(ours_->open(&services_, why, sizeof why), 0) << why;
  }

  // MLX takes milliseconds: few row counts.
  void expect_same_bits(std::uint64_t k, std::uint64_t n) {
    kernels::expect_same_bits(*ours_, *theirs_, mlx_order, k, n, std::array{1U, 2U, 8U, 17U});
  }

  const tare_services services_ = services_with(2);
  Module ours_module_{TARE_MODULE};
  Module theirs_module_{TARE_MLX_MODULE};
  const tare_arm* ours_ = nullptr;
  const tare_arm* theirs_ = nullptr;
};

TEST_F(MlxBits, ShapesOfModels) {
  expect_same_bits(896, 896);
  expect_same_bits(4864, 200);
  expect_same_bits(1536, 256);
}

// addmm adds it to the sum, before the one rounding.
TEST_F(MlxBits, OfABias) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const std::uint64_t k = 896, n = 130;
  const BareData data{reference::draw(random, 17 * k, reference::Values::kUsual),
                      reference::draw(random, n * k, reference::Values::kUsual)};
  for (const std::uint32_t rows : {1U, 2U, 17U}) {
    const auto bias = bare_bias(data, k, n, rows, mlx_order(k, rows));
    EXPECT_EQ(differing(Prepared(*ours_, k, n, rows, TARE_BF16).project(data, bias),
                        Prepared(*theirs_, k, n, rows, TARE_BF16).project(data, bias)),
              0U)
        << rows << " rows";
  }
}

TEST_F(MlxBits, Tails) {
  expect_same_bits(1000, 130);
  expect_same_bits(34, 67);
}

// Odd elements first is another result: so the data would show it.
TEST_F(MlxBits, ElementsAreNotAddedInOneDnnsOrder) {
  std::mt19937_64 random(1);
  const BareData data = draw_bare(random, 896, 256, 1, mlx_order(896, 1));
  const tare_arm* other = ours_module_.arm(0);
  char why[256] = "";
  ASSERT_EQ(other->open(&services_, why, sizeof why), 0) << why;
  EXPECT_GT(differing(Prepared(*other, 896, 256, 1).project(data),
                      Prepared(*theirs_, 896, 256, 1).project(data)),
            128U);
}

}  // namespace
}  // namespace tare::kernels
