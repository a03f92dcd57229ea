#include "weigh/weighing.h"

#include <gtest/gtest.h>

namespace tare::weigh {
namespace {

constexpr tare_problem kProblem{1536, 256, 8, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0};

TEST(Weighing, CountsBytesOfWeights) {
  EXPECT_EQ(weight_bytes(kProblem), 786432);  // 1536 * 256 * 2
  tare_problem wide = kProblem;
  wide.weights = TARE_F32;
  EXPECT_EQ(weight_bytes(wide), 1572864);
}

TEST(Weighing, CountsMultiplyAndAdd) {
  EXPECT_EQ(operations(kProblem), 6291456);  // 2 * 1536 * 256 * 8
}

TEST(Weighing, DoesNotOverflow) {
  const tare_problem huge{1ULL << 40, 1ULL << 40, 1, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0};
  EXPECT_DOUBLE_EQ(weight_bytes(huge), 0x1p81);
}

}  // namespace
}  // namespace tare::weigh
