#include "serve/logits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tare::serve {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

LogitDifference compared(const std::vector<float>& before, const std::vector<float>& after,
                         std::size_t vocabulary) {
  LogitDifference difference;
  add(difference, before, after, vocabulary);
  return difference;
}

TEST(Logits, EqualOnesDifferInNothing) {
  const std::vector<float> all{1, 2, -3, 0, kNan, kInfinity};
  const LogitDifference d = compared(all, all, 3);
  EXPECT_EQ(d.tokens, 2u);
  EXPECT_EQ(d.elements, 6u);
  EXPECT_EQ(d.differing, 0u);
  EXPECT_EQ(d.kl_max, 0);
}

TEST(Logits, OneStepIsOneUlpWhateverTheSign) {
  EXPECT_EQ(compared({1.0F}, {std::nextafter(1.0F, 2.0F)}, 1).max_ulp, 1u);
  EXPECT_EQ(compared({-1.0F}, {std::nextafter(-1.0F, -2.0F)}, 1).max_ulp, 1u);
  // The least above and below zero are two steps apart, and +0 from -0 none, though its bits
  // differ.
  const float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(compared({least}, {-least}, 1).max_ulp, 2u);
  EXPECT_EQ(compared({0.0F}, {-0.0F}, 1).max_ulp, 0u);
  EXPECT_EQ(compared({0.0F}, {-0.0F}, 1).differing, 1u);
  EXPECT_EQ(bits_of(0), 0u);
  EXPECT_EQ(bits_of(1), 1u);
  EXPECT_EQ(bits_of(8), 4u);
}

TEST(Logits, NanOnOneSideNeverPasses) {
  for (const auto& [a, b] :
       {std::pair{kNan, 1.0F}, {1.0F, kNan}, {kInfinity, 1.0F}, {kInfinity, -kInfinity}}) {
    const LogitDifference d = compared({a, 0}, {b, 0}, 2);
    EXPECT_EQ(d.class_mismatch, 1u);
    EXPECT_EQ(d.differing, 1u);
  }
}

// p = (2/3, 1/3), q = (1/3, 2/3): KL = 2/3 ln 2 - 1/3 ln 2 = ln 2 / 3. The offset means nothing.
TEST(Logits, DivergenceIsThatOfTheDistributions) {
  const float two = std::log(2.0F);
  const LogitDifference d = compared({two, 0, 1, 1}, {100, 100 + two, 1, 1}, 2);
  EXPECT_NEAR(d.kl_max, std::log(2.) / 3, 1e-5);
  EXPECT_NEAR(d.kl_mean(), std::log(2.) / 6, 1e-5);  // of two tokens, one of which is equal
  EXPECT_EQ(d.top_changes, 1u);
}

}  // namespace
}  // namespace tare::serve
