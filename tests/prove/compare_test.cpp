#include "prove/compare.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"

namespace tare::prove {
namespace {

constexpr Bf16 kOne = 0x3F80, kInf = 0x7F80, kMinusInf = 0xFF80, kNan = 0x7FC0, kOtherNan = 0xFFC1;

std::vector<Bf16> generated(std::size_t count) {
  std::vector<Bf16> data(count);
  generate_activations(1, 2, 0, data);
  return data;
}

Difference compare_one(Bf16 incumbent, Bf16 candidate) {
  return compare_bits(std::vector<Bf16>{incumbent}, std::vector<Bf16>{candidate});
}

TEST(CompareBits, EqualOutputsDoNotDiffer) {
  const std::vector<Bf16> data = generated(10'001);
  const Difference difference = compare_bits(data, data);
  EXPECT_EQ(difference.elements, 10'001U);
  EXPECT_EQ(difference.differing, 0U);
  EXPECT_EQ(difference.class_mismatch, 0U);
  EXPECT_EQ(difference.non_finite, 0U);
  EXPECT_EQ(difference.max_ulp, 0U);
}

TEST(CompareBits, FindsOneBitInAnyPlace) {
  const std::vector<Bf16> incumbent = generated(9'000);
  for (const std::size_t place : {std::size_t{0}, std::size_t{4095}, std::size_t{4096},
                                  std::size_t{8'191}, std::size_t{8'999}}) {
    std::vector<Bf16> candidate = incumbent;
    candidate[place] ^= 1U;
    const Difference difference = compare_bits(incumbent, candidate);
    EXPECT_EQ(difference.differing, 1U) << place;
    EXPECT_EQ(difference.max_ulp, 1U) << place;
    EXPECT_EQ(difference.class_mismatch, 0U) << place;
  }
}

TEST(CompareBits, ANanNeverPassesForANumber) {
  const Difference difference = compare_one(kOne, kNan);
  EXPECT_EQ(difference.differing, 1U);
  EXPECT_EQ(difference.class_mismatch, 1U);
  EXPECT_EQ(difference.non_finite, 1U);
  EXPECT_EQ(difference.max_ulp, 0U) << "no distance to what is not a number";
  EXPECT_EQ(compare_one(kNan, kOne).class_mismatch, 1U);
  EXPECT_EQ(compare_one(kNan, kOne).non_finite, 0U) << "counts the candidate's only";
}

TEST(CompareBits, TellsInfinitiesApart) {
  EXPECT_EQ(compare_one(kInf, kInf).class_mismatch, 0U);
  EXPECT_EQ(compare_one(kInf, kInf).non_finite, 1U);
  EXPECT_EQ(compare_one(kInf, kMinusInf).class_mismatch, 1U);
  EXPECT_EQ(compare_one(kInf, kNan).class_mismatch, 1U);
  EXPECT_EQ(compare_one(kMinusInf, kNan).class_mismatch, 1U);
  EXPECT_EQ(compare_one(kInf, 0x7F7F).class_mismatch, 1U) << "the largest finite number is none";
}

TEST(CompareBits, NansOfOtherPayloadDifferInBitsButNotInClass) {
  const Difference difference = compare_one(kNan, kOtherNan);
  EXPECT_EQ(difference.differing, 1U);
  EXPECT_EQ(difference.class_mismatch, 0U);
}

TEST(CompareBits, CountsStepsAcrossZeroAndPowersOfTwo) {
  EXPECT_EQ(compare_one(0x0000, 0x8000).max_ulp, 0U);
  EXPECT_EQ(compare_one(0x0000, 0x8000).differing, 1U);
  EXPECT_EQ(compare_one(0x0001, 0x8001).max_ulp, 2U);
  EXPECT_EQ(compare_one(0x3F80, 0x3F7F).max_ulp, 1U);
  EXPECT_EQ(compare_one(0x7F7F, 0xFF7F).max_ulp, 2U * 0x7F7F) << "the widest distance there is";
}

TEST(CompareBits, EveryPairOfClassesAgreesWithTheMathLibrary) {
  const std::vector<Bf16> samples = {0x0000, 0x8000, 0x0001, 0x807F, 0x3F80, 0xBF81, 0x7F7F,
                                     0xFF7F, 0x7F80, 0xFF80, 0x7F81, 0xFFFF, 0x7FC0, 0xFFC0};
  const auto class_of = [](float value) {
    if (std::isnan(value)) return 1;
    return std::isinf(value) ? (value > 0 ? 2 : 3) : 0;
  };
  for (const Bf16 a : samples) {
    for (const Bf16 b : samples) {
      const Difference difference = compare_one(a, b);
      const bool same = class_of(to_float(a)) == class_of(to_float(b));
      EXPECT_EQ(difference.class_mismatch, same ? 0U : 1U) << a << " " << b;
      EXPECT_EQ(difference.differing, a == b ? 0U : 1U) << a << " " << b;
      EXPECT_EQ(difference.non_finite, std::isfinite(to_float(b)) ? 0U : 1U) << a << " " << b;
    }
  }
}

Difference compare_f32(float incumbent, float candidate) {
  return compare_bits(ConstElements(TARE_F32, &incumbent, 1),
                      ConstElements(TARE_F32, &candidate, 1));
}

// Steps are counted by going them, one after the other.
TEST(CompareBits, OfF32CountsItsOwnSteps) {
  float value = -0x1p-148F;
  for (std::uint32_t steps = 0; steps < 6; ++steps) {
    EXPECT_EQ(compare_f32(-0x1p-148F, value).max_ulp, steps) << value;
    value = std::nextafter(value, 1.0F);
  }
  EXPECT_EQ(compare_f32(1, std::nextafter(1.0F, 2.0F)).differing, 1U);
  EXPECT_EQ(compare_f32(1, std::nextafter(1.0F, 2.0F)).max_ulp, 1U);
  constexpr float kMost = std::numeric_limits<float>::max();
  EXPECT_EQ(compare_f32(-kMost, kMost).max_ulp, 2U * 0x7F7FFFFFU);
}

TEST(CompareBits, OfF32TellsClassesApart) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  const float nan = std::nanf("");
  const float samples[] = {0, -0.0F, 1, -3, 0x1p-149F, kInfinite, -kInfinite, nan};
  const auto class_of = [](float value) {
    if (std::isnan(value)) return 1;
    return std::isinf(value) ? (value > 0 ? 2 : 3) : 0;
  };
  for (const float a : samples)
    for (const float b : samples) {
      const Difference found = compare_f32(a, b);
      EXPECT_EQ(found.class_mismatch, class_of(a) == class_of(b) ? 0U : 1U) << a << ' ' << b;
      EXPECT_EQ(found.non_finite, std::isfinite(b) ? 0U : 1U) << b;
      EXPECT_EQ(found.differing,
                std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ? 0U : 1U);
    }
}

TEST(CompareBits, RefusesOutputsOfTwoTypes) {
  const float wide = 1;
  EXPECT_THROW(compare_bits(generated(1), ConstElements(TARE_F32, &wide, 1)), Error);
}

TEST(CompareBits, RefusesOutputsOfTwoLengths) {
  EXPECT_THROW(compare_bits(generated(3), generated(4)), Error);
  EXPECT_EQ(compare_bits({}, {}).elements, 0U);
}

// Values printed by `xxhsum -H3` of Debian's xxhash 0.8.1 for the same bytes.
TEST(Digest, IsXxh3) {
  EXPECT_EQ(digest({}), 0x2D06800538D394C2U);
  EXPECT_EQ(digest(std::vector<Bf16>{0x3F80, 0xC000}), 0xCA8E48A6E0C52B2BU);
  std::vector<Bf16> data;
  for (unsigned i = 0; i < 1000; ++i) data.push_back(static_cast<Bf16>(i * 40503U));
  EXPECT_EQ(digest(data), 0x50A1A4A2F4BD3710U);
}

TEST(Poison, NoTwoAreAlikeAndNoneIsAPlausibleOutput) {
  std::vector<Bf16> first(3), second(3);
  poison(first, 0);
  poison(second, 1);
  EXPECT_TRUE(std::isnan(to_float(first[0])));
  EXPECT_TRUE(std::isfinite(to_float(second[0])));
  EXPECT_GT(to_float(second[0]), 1e38F);
  EXPECT_EQ(count_unwritten(first, second), 3U);
}

TEST(Poison, OfF32IsANanAndAHugeNumber) {
  ElementBuffer first(TARE_F32, 3), second(TARE_F32, 3);
  poison(first.all(), 0);
  poison(second.all(), 1);
  EXPECT_TRUE(std::isnan(first.all().value(2)));
  EXPECT_GT(second.all().value(2), 1e38F);
  EXPECT_EQ(count_unwritten(first, second), 3U);
  second.all().set(1, 0.1F);
  EXPECT_EQ(count_unwritten(first, second), 2U);
}

TEST(Poison, AnElementIsUnwrittenOnlyWhenBothPoisonsStay) {
  std::vector<Bf16> first(4), second(4);
  poison(first, 0);
  poison(second, 1);
  first[0] = kOne;              // written in one run
  second[1] = kOne;             // in the other
  first[2] = second[2] = kOne;  // in both
  EXPECT_EQ(count_unwritten(first, second), 1U);
}

TEST(Bf16Conversion, KeepsEveryPattern) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const float value = to_float(static_cast<Bf16>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(to_float(to_bf16(value)))) << bits;
    } else {
      EXPECT_EQ(to_bf16(value), bits);
    }
  }
}

TEST(Bf16Conversion, RoundsToNearestEven) {
  // Between each number and the next: the middle goes to the even one, and a float's step off it to
  // the nearer.
  for (unsigned lower = 0; lower < 0x7F7F; ++lower) {
    const unsigned upper = lower + 1;
    const double sum = static_cast<double>(to_float(static_cast<Bf16>(lower))) +
                       static_cast<double>(to_float(static_cast<Bf16>(upper)));
    const auto middle = static_cast<float>(sum / 2);
    ASSERT_EQ(to_bf16(middle), (lower & 1U) == 0 ? lower : upper);
    ASSERT_EQ(to_bf16(std::nextafter(middle, 0.0F)), lower);
    ASSERT_EQ(to_bf16(std::nextafter(middle, std::numeric_limits<float>::infinity())), upper);
    ASSERT_EQ(to_bf16(-middle), 0x8000U | ((lower & 1U) == 0 ? lower : upper));
  }
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()), kInf);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::signaling_NaN()) & 0x7FC0, 0x7FC0);
}

}  // namespace
}  // namespace tare::prove
