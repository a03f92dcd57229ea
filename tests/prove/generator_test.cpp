#include "prove/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "prove/compare.h"

namespace tare::prove {
namespace {

constexpr std::size_t kMany = 1 << 17;

std::vector<Bf16> weights(std::uint64_t seed, std::uint64_t slot, std::uint64_t first,
                          std::size_t count) {
  std::vector<Bf16> into(count);
  generate_weights(seed, slot, first, into);
  return into;
}

std::vector<Bf16> activations(std::uint64_t seed, std::uint64_t slot, std::size_t count) {
  std::vector<Bf16> into(count);
  generate_activations(seed, slot, 0, into);
  return into;
}

struct Moments {
  double mean = 0, deviation = 0, kurtosis = 0;
};

Moments moments(const std::vector<Bf16>& data) {
  double first = 0, second = 0, fourth = 0;
  for (const Bf16 bits : data) {
    const double value = to_float(bits);
    first += value;
    second += value * value;
    fourth += value * value * value * value;
  }
  const auto count = static_cast<double>(data.size());
  second /= count;
  return {first / count, std::sqrt(second), fourth / count / (second * second)};
}

double correlation(const std::vector<Bf16>& a, const std::vector<Bf16>& b, std::size_t shift = 0) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i + shift < a.size(); ++i) {
    const double x = to_float(a[i]), y = to_float(b[i + shift]);
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / std::sqrt(aa * bb);
}

// Six standard deviations of the correlation of unrelated data.
double unrelated(std::size_t count) {
  return 6 / std::sqrt(static_cast<double>(count));
}

// Values of a second implementation of the same definition, in Python's integers and fractions.
TEST(Generator, HasTheBitsOfItsDefinition) {
  const std::vector<Bf16> first = {0x3C6B, 0xBCA7, 0x3CBB, 0x3BF3, 0xBC4F, 0x3C66, 0x3BC3, 0xBD09};
  EXPECT_EQ(weights(0, 0, 0, 8), first);
  const std::vector<Bf16> far = {0x3D28, 0xBD42, 0xBB79, 0xBC5C, 0x3C12, 0xBCC2, 0xBCF8, 0xBCC9};
  EXPECT_EQ(weights(~std::uint64_t{0}, 7, 1'000'000, 8), far);
  const std::vector<Bf16> across = {0xBC62, 0xBC8E, 0x3B25, 0x3B06, 0x3BEB, 0xBCBE, 0x3BEE, 0x3CDA};
  EXPECT_EQ(weights(42, 3, (std::uint64_t{1} << 32U) - 4, 8), across) << "across 2^32 elements";
  const std::vector<Bf16> active = {0x3EAB, 0x3E47, 0x3E40, 0x3ED3, 0xBFA7, 0x3FBE, 0x400D, 0x3F80};
  EXPECT_EQ(activations(42, 3, 8), active);
}

TEST(Generator, EveryInstructionSetGivesTheSameBits) {
  const std::vector<GeneratorPath> paths = generator_paths();
  ASSERT_EQ(paths.front().name, "portable");
  // Lengths around the vector widths, at starts that are not aligned to them.
  for (const std::size_t count : {1, 7, 16, 31, 32, 33, 1000, 65537}) {
    for (const std::uint64_t first :
         {std::uint64_t{0}, std::uint64_t{13}, std::uint64_t{0xFFFFFFF9U}}) {
      std::vector<Bf16> expected(count);
      paths.front().weights(5, 6, first, expected);
      EXPECT_EQ(weights(5, 6, first, count), expected);
      for (const GeneratorPath& path : paths) {
        std::vector<Bf16> actual(count);
        path.weights(5, 6, first, actual);
        EXPECT_EQ(actual, expected) << path.name << ", " << count << " from " << first;
      }
    }
  }
}

TEST(Generator, AnyRangeEqualsTheSameRangeOfALongerCall) {
  const std::vector<Bf16> whole = weights(9, 1, 0, 10'000);
  for (const auto& [first, count] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 1}, {1, 1}, {17, 4096}, {4095, 2}, {9'999, 1}, {5'000, 0}}) {
    const std::vector<Bf16> part = weights(9, 1, first, count);
    EXPECT_TRUE(
        std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)))
        << first << " " << count;
  }
}

TEST(Generator, HasTheMomentsOfABellWithTails) {
  // Of the sum of four uniform bytes: variance 4 * (2^16 - 1) / 12; one in 256 times four. The
  // kurtosis was enumerated over all 2^32 hashes (those that are quadrupled have a fourth moment of
  // their own).
  constexpr std::size_t kCount = 1 << 20;
  const double deviation_of_sum = std::sqrt(4 * 65535.0 / 12 * (255 + 16) / 256);
  constexpr double kKurtosis = 5.609;
  for (const bool weight : {true, false}) {
    const Moments seen = moments(weight ? weights(1, 2, 0, kCount) : activations(1, 2, kCount));
    const double deviation = deviation_of_sum * (weight ? 0x1p-13 : 0x1p-7);
    const double error = deviation / std::sqrt(static_cast<double>(kCount));
    EXPECT_NEAR(seen.mean, 0, 5 * error);
    EXPECT_NEAR(seen.deviation, deviation, 5 * error);
    EXPECT_NEAR(seen.kurtosis, kKurtosis, 0.5) << "five standard errors";
  }
}

TEST(Generator, NeverMakesNanInfOrSubnormalAndRarelyZero) {
  std::size_t zeros = 0, tails = 0;
  for (const Bf16 bits : weights(3, 0, 0, kMany)) {
    const int exponent = (bits >> 7) & 0xFF;
    EXPECT_NE(exponent, 0xFF);
    if (exponent == 0) {
      EXPECT_EQ(bits, 0) << "subnormal or -0";
      ++zeros;
    }
    tails += std::abs(to_float(bits)) > 510 * 0x1p-13F ? 1 : 0;
  }
  EXPECT_LT(zeros, kMany / 250);
  EXPECT_GT(tails, kMany / 1024) << "values beyond the bell: |4 s| > 510 for a third of one in 256";
  EXPECT_LT(tails, kMany / 256);
}

TEST(Generator, SpreadsEvenlyOverItsQuantiles) {
  // Chi-square over the 16 values of the last two bits of neighbours' patterns and their signs: a
  // lattice or a short period in the counter's low bits would show.
  const std::vector<Bf16> data = weights(77, 5, 0, kMany);
  std::array<double, 16> cells{};
  for (std::size_t i = 0; i + 4 <= data.size(); i += 4) {
    const unsigned signs = (data[i] >> 15U) | (data[i + 1] >> 15U) << 1U |
                           (data[i + 2] >> 15U) << 2U | (data[i + 3] >> 15U) << 3U;
    cells.at(signs) += 1;
  }
  const double expected = static_cast<double>(kMany / 4) / 16;
  double chi_square = 0;
  for (const double cell : cells) chi_square += (cell - expected) * (cell - expected) / expected;
  EXPECT_LT(chi_square, 60) << "15 degrees of freedom: 1 in 3 million";
}

TEST(Generator, SlotsSeedsAndPurposesAreUnrelated) {
  const std::vector<Bf16> base = weights(1, 0, 0, kMany);
  const double limit = unrelated(kMany);
  for (const std::uint64_t other : {1, 2, 3, 64, 1 << 20}) {
    EXPECT_LT(std::abs(correlation(base, weights(1, other, 0, kMany))), limit) << "slot " << other;
    EXPECT_LT(std::abs(correlation(base, weights(1 + other, 0, 0, kMany))), limit) << "seed";
  }
  EXPECT_LT(std::abs(correlation(base, weights(0, 1, 0, kMany))), limit) << "seed and slot swapped";
  EXPECT_LT(std::abs(correlation(base, activations(1, 0, kMany))), limit);
  for (const std::size_t shift : {1, 2, 16, 256, 4096, 65536}) {
    EXPECT_LT(std::abs(correlation(base, base, shift)), unrelated(kMany - shift)) << shift;
  }
}

// Data on which every sum is exact hides the order of additions, and makes bits equal that are not
// (TRAPS C7).
TEST(Generator, TheOrderOfAdditionsShows) {
  constexpr std::size_t kLength = 4096;
  std::size_t differing = 0;
  for (std::uint64_t slot = 0; slot < 64; ++slot) {
    const std::vector<Bf16> w = weights(3, slot, 0, kLength), x = activations(4, slot, kLength);
    float ascending = 0, descending = 0;
    for (std::size_t i = 0; i < kLength; ++i) {
      ascending += to_float(w[i]) * to_float(x[i]);
      descending += to_float(w[kLength - 1 - i]) * to_float(x[kLength - 1 - i]);
    }
    differing += ascending != descending ? 1 : 0;
  }
  EXPECT_GT(differing, 48U) << "of 64 dot products";
}

TEST(Generator, EverySlotIsDistinct) {
  std::set<std::vector<Bf16>> seen;
  for (std::uint64_t slot = 0; slot < 4096; ++slot) seen.insert(weights(11, slot, 0, 32));
  EXPECT_EQ(seen.size(), 4096U);
  // Nor is one slot a part of another: no window of 8 elements comes twice in 16 slots.
  std::set<std::array<Bf16, 8>> windows;
  std::size_t count = 0;
  for (std::uint64_t slot = 0; slot < 16; ++slot) {
    const std::vector<Bf16> data = weights(11, slot, 0, 2048);
    for (std::size_t i = 0; i + 8 <= data.size(); ++i, ++count) {
      std::array<Bf16, 8> window{};
      std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(i), 8, window.begin());
      windows.insert(window);
    }
  }
  EXPECT_EQ(windows.size(), count);
}

}  // namespace
}  // namespace tare::prove
