// 0 differing bits of the arm tare-panel-onednn-ip against the arm onednn-ip, both loaded as the
// arm host loads them, where there is oneDNN 2.6 and the processor has the kernel whose order is
// known.
#include <cstring>
#include <numeric>

#include "tests/kernels/prepared.h"

namespace tare::kernels {
namespace {

class OneDnnIpBits : public testing::Test {
 protected:
  void SetUp() override {
    if (!theirs_module_.loaded()) GTEST_SKIP() << "no module onednn: libdnnl-dev is not installed";
    theirs_ = theirs_module_.arm(1);
    ASSERT_STREQ(theirs_->name, "onednn-ip");
    char why[256] = "";
    ASSERT_EQ(theirs_->open(&services_, why, sizeof why), 0) << why;
    const std::string kernel = Prepared(*theirs_, 64, 64, 1).kernel();
    if (std::strncmp(theirs_->version, "2.6.", 4) != 0 || kernel != "brgemm:avx512_core_bf16")
      GTEST_SKIP() << "oneDNN " << theirs_->version << " runs " << kernel
                   << " here, whose order is not known";
    ours_ = ours_module_.arm(6);
    ASSERT_STREQ(ours_->name, "tare-panel-onednn-ip");
    ASSERT_EQ(ours_->open(&services_, why, sizeof why), 0) << why;
  }

  void expect_same_bits(std::uint64_t k, std::uint64_t n, std::uint32_t most_rows) {
    std::vector<std::uint32_t> rows(most_rows);
    std::iota(rows.begin(), rows.end(), 1U);
    kernels::expect_same_bits(*ours_, *theirs_, onednn_ip_order, k, n, rows);
  }

  const tare_services services_ = services_with(2);
  Module ours_module_{TARE_MODULE};
  Module theirs_module_{TARE_ONEDNN_MODULE};
  const tare_arm* ours_ = nullptr;
  const tare_arm* theirs_ = nullptr;
};

TEST_F(OneDnnIpBits, GemmaAtEveryRowCount) {
  expect_same_bits(640, 1024, 32);
  expect_same_bits(1024, 640, 32);
  expect_same_bits(2048, 640, 32);
}
TEST_F(OneDnnIpBits, QwenAtEveryRowCount) {
  expect_same_bits(1536, 256, 32);
  expect_same_bits(4096, 512, 32);
}
TEST_F(OneDnnIpBits, LongSums) {
  expect_same_bits(8960, 128, 4);
  expect_same_bits(12288, 128, 4);
}
TEST_F(OneDnnIpBits, Tails) {
  expect_same_bits(1040, 130, 8);
  expect_same_bits(112, 67, 8);
}

// In the matmul's order it is another result: so the data would show it.
TEST_F(OneDnnIpBits, ItDoesNotAddAsTheMatmul) {
  std::mt19937_64 random(1);
  for (const std::uint64_t k : {640, 1536}) {
    const BareData data = draw_bare(random, k, 256, 1, onednn_ip_order(k, 1));
    const tare_arm* as_matmul = ours_module_.arm(0);
    char why[256] = "";
    ASSERT_EQ(as_matmul->open(&services_, why, sizeof why), 0) << why;
    EXPECT_GT(differing(Prepared(*as_matmul, k, 256, 1).project(data),
                        Prepared(*theirs_, k, 256, 1).project(data)),
              128U)
        << k;
  }
}

}  // namespace
}  // namespace tare::kernels
