// f16 against the definition: sign, 5 exponent bits, 10 of fraction, in double.
#include "formats/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

namespace tare::formats {
namespace {

double defined(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Half, EveryFiniteValueIsExactAndComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if ((half & 0x7C00) == 0x7C00) continue;
    ASSERT_EQ(from_f16(half), defined(half)) << bits;
    ASSERT_EQ(to_f16_bits(from_f16(half)), half) << bits;
  }
}

TEST(Half, RoundsToTheNearest) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 100000; ++i) {
    const float value =
        std::ldexp(static_cast<float>(random() & 0xFFFFFF), -static_cast<int>(random() % 44) - 8);
    const std::uint16_t half = to_f16_bits(value);
    if (value >= 65520) {
      ASSERT_EQ(half, 0x7C00) << value;
      continue;
    }
    const double error = std::abs(defined(half) - value);
    const auto error_of = [&](int step) {
      return std::abs(defined(static_cast<std::uint16_t>(half + step)) - value);
    };
    if (half > 0) {
      ASSERT_LE(error, error_of(-1));
    }
    if (half < 0x7BFF) {
      ASSERT_LE(error, error_of(1));
    }
  }
}

TEST(Half, TiesGoToEvenAndNanStays) {
  EXPECT_EQ(to_f16_bits(1 + 0x1p-11F), 0x3C00);
  EXPECT_EQ(to_f16_bits(1 + 3 * 0x1p-11F), 0x3C02);
  EXPECT_EQ(to_f16_bits(-0x1p-25F), 0x8000);
  EXPECT_TRUE(std::isnan(from_f16(to_f16_bits(NAN))));
  EXPECT_EQ(from_f16(0xFC00), -INFINITY);
}

}  // namespace
}  // namespace tare::formats
