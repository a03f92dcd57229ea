// 0 differing bits of the arm tare-panel-onednn3 against the arm onednn3, both loaded as the arm
// host loads them: oneDNN 3.13's bf16 matmul, where ./tare incumbents fetched it and the processor
// has the kernel whose order is known.
#include <cstring>
#include <optional>

#include "tests/kernels/bare_data.h"
#include "tests/kernels/prepared.h"

namespace tare::kernels {
namespace {

class OneDnn3Bits : public testing::Test {
 protected:
  void SetUp() override {
    if (!theirs_module_.loaded())
      GTEST_SKIP() << "no module onednn3: ./tare incumbents fetches oneDNN 3.x";
    theirs_ = theirs_module_.arm(0);
    char why[256] = "";
    if (theirs_->open(&services_, why, sizeof why) != 0) GTEST_SKIP() << why;
    const tare_problem problem = bf16_problem(64, 64, 1);
    if (theirs_->supports(&problem, why, sizeof why) != 0) GTEST_SKIP() << why;
    const std::string kernel = Prepared(*theirs_, 64, 64, 1).kernel();
    if (std::strncmp(theirs_->version, "3.13.", 5) != 0 || kernel != "brg_matmul:avx512_core_bf16")
      GTEST_SKIP() << "oneDNN " << theirs_->version << " runs " << kernel
                   << " here, whose order is not known";
    ours_ = ours_module_.arm(2);
    ASSERT_STREQ(ours_->name, "tare-panel-onednn3");
    ASSERT_EQ(ours_->open(&services_, why, sizeof why), 0) << why;
  }

  // One row, and the first rows of the same data up to `most_rows`, which have another order.
  void expect_same_bits(std::uint64_t k, std::uint64_t n, std::uint32_t most_rows = 1) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << k << "x" << n << " seed " << seed);
    std::mt19937_64 random(seed);
    expect_same_bits(k, n, 1, draw_bare(random, k, n, 1, onednn3_order(k, 1)));
    const BareData many = draw_bare(random, k, n, most_rows, onednn3_order(k, most_rows));
    for (std::uint32_t rows = 2; rows <= most_rows; ++rows) expect_same_bits(k, n, rows, many);
  }
  void expect_same_bits(std::uint64_t k, std::uint64_t n, std::uint32_t rows,
                        const BareData& data) {
    EXPECT_EQ(differing(Prepared(*ours_, k, n, rows).project(data),
                        Prepared(*theirs_, k, n, rows).project(data)),
              0u)
        << rows << " rows";
  }

  const tare_services services_ = services_with(2);
  Module ours_module_{TARE_MODULE};
  Module theirs_module_{TARE_ONEDNN3_MODULE};
  const tare_arm* ours_ = nullptr;
  const tare_arm* theirs_ = nullptr;
};

TEST_F(OneDnn3Bits, QwenSmallQ) {
  expect_same_bits(1536, 1536, 32);
}
TEST_F(OneDnn3Bits, QwenSmallK) {
  expect_same_bits(1536, 256, 32);
}
TEST_F(OneDnn3Bits, QwenLargeQ) {
  expect_same_bits(4096, 4096, 32);
}
TEST_F(OneDnn3Bits, QwenLargeK) {
  expect_same_bits(4096, 1024, 32);
}
TEST_F(OneDnn3Bits, OneRowOfLongSumsAndOfTails) {
  for (const auto& [k, n] : {std::pair{8960, 1536}, std::pair{12288, 512}, std::pair{1000, 130},
                             std::pair{64, 64}, std::pair{640, 67}})
    expect_same_bits(static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(n));
}

// One row in 2.6.3's order is another result: so the data would show it.
TEST_F(OneDnn3Bits, OneRowIsNotAddedAsIn2) {
  std::mt19937_64 random(1);
  const std::uint64_t k = 1536, n = 256;
  const BareData data = draw_bare(random, k, n, 1, onednn3_order(k, 1));
  const tare_arm* as_in_2 = ours_module_.arm(0);
  char why[256] = "";
  ASSERT_EQ(as_in_2->open(&services_, why, sizeof why), 0) << why;
  EXPECT_GT(differing(Prepared(*as_in_2, k, n, 1).project(data),
                      Prepared(*theirs_, k, n, 1).project(data)),
            n / 2);
}

}  // namespace
}  // namespace tare::kernels
