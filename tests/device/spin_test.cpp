#include "device/spin.h"

#include <gtest/gtest.h>

#include "device/topology.h"

namespace tare::device {
namespace {

TEST(Spin, EvenDurationsAreEven) {
  const Evenness even = evenness_of(std::vector<double>(1000, 30e-6));
  EXPECT_DOUBLE_EQ(even.p99_ratio, 1);
  EXPECT_NEAR(even.max_gap_us, 0, 1e-9);
}

TEST(Spin, OneInterruptionIsAGapAndNoTail) {
  std::vector<double> durations(1000, 30e-6);
  durations[17] = 5030e-6;
  const Evenness seen = evenness_of(durations);
  EXPECT_DOUBLE_EQ(seen.p99_ratio, 1);
  EXPECT_NEAR(seen.max_gap_us, 5000, 1e-6);
}

TEST(Spin, TwoInAHundredSlowAreATail) {
  std::vector<double> durations(1000, 30e-6);
  for (std::size_t i = 0; i < 1000; i += 50) durations[i] = 60e-6;
  EXPECT_DOUBLE_EQ(evenness_of(durations).p99_ratio, 2);
}

TEST(Spin, TooFewSayNothing) {
  EXPECT_EQ(evenness_of({}).p99_ratio, 0);
  EXPECT_EQ(evenness_of({1.0}).p99_ratio, 0);
}

TEST(Spin, MeasuresEvenInNoTime) {
  const Evenness seen = spin(allowed_processors(), 0);
  EXPECT_GE(seen.p99_ratio, 1);
  EXPECT_GE(seen.max_gap_us, 0);
}

}  // namespace
}  // namespace tare::device
