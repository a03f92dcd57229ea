// The judge itself: it must reject what a broken module would return.
#include "tests/modules/drive.h"

#include <cmath>

namespace tare::tests {
namespace {

const Data& data() {
  static const Data it(64, 3, 2, 2, 11);
  return it;
}

Buffer rounded_products() {
  Buffer y(6);
  for (std::uint64_t row = 0; row < 2; ++row) {
    for (std::uint64_t output = 0; output < 3; ++output) {
      y[row * 3 + output] = to_bf16(static_cast<float>(data().exact(0, row, output).value));
    }
  }
  return y;
}

TEST(Judge, AcceptsTheRoundedProduct) {
  expect_product(rounded_products(), data(), 2, 0);
}

TEST(Judge, RejectsZeros) {
  const Buffer y(6);
  y.fill(0);
  EXPECT_EQ(count_wrong(y, data(), 2, 0), 6u);
}

TEST(Judge, RejectsNaN) {
  const Buffer y = rounded_products();
  y[5] = 0x7fc1;
  EXPECT_EQ(count_wrong(y, data(), 2, 0), 1u);
}

TEST(Judge, RejectsTwoBf16Steps) {
  const Buffer y = rounded_products();
  y[4] = static_cast<Bf16>(y[4] + 2);
  EXPECT_EQ(count_wrong(y, data(), 2, 0), 1u);
}

TEST(Judge, RejectsTheProductOfAnotherSlot) {
  EXPECT_GT(count_wrong(rounded_products(), data(), 2, 1), 4u);
}

TEST(Judge, RejectsSwappedRows) {
  const Buffer y = rounded_products();
  for (int i = 0; i < 3; ++i) std::swap(y[i], y[3 + i]);
  EXPECT_GT(count_wrong(y, data(), 2, 0), 4u);
}

TEST(Judge, SeesAWriteBehindTheEnd) {
  const Buffer y(5);
  EXPECT_TRUE(y.guard_intact());
  y.data()[5] = 0;
  EXPECT_FALSE(y.guard_intact());
}

TEST(Judge, RoundsToNearestEven) {
  EXPECT_EQ(to_bf16(1.0f), 0x3f80);
  EXPECT_EQ(to_bf16(std::ldexp(257.0f, -8)), 0x3f80);       // a tie: down, to even
  EXPECT_EQ(to_bf16(1.0f + std::ldexp(3.0f, -8)), 0x3f82);  // a tie: up, to even
  EXPECT_EQ(to_bf16(std::ldexp(513.0f, -9) + 1e-6f), 0x3f80);
}

}  // namespace
}  // namespace tare::tests
