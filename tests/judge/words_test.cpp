#include "judge/words.h"

#include <gtest/gtest.h>

namespace tare::judge {
namespace {

TEST(Words, Duration) {
  EXPECT_EQ(duration(198e-6), "198 µs");
  EXPECT_EQ(duration(25.14e-3), "25.1 ms");
  EXPECT_EQ(duration(1.29), "1.29 s");
  EXPECT_EQ(duration(0.9999e-3), "1.00 ms");
  EXPECT_EQ(duration(80e-9), "80.0 ns");
  EXPECT_EQ(duration(-12e-6), "-12.0 µs");
  EXPECT_EQ(duration(0), "0.00 ns");
}

TEST(Words, Percent) {
  EXPECT_EQ(percent(0.31), "31 %");
  EXPECT_EQ(percent(0.0234), "2.3 %");
  EXPECT_EQ(percent(0.0042), "0.42 %");
  EXPECT_EQ(percent(1.5), "150 %");
}

TEST(Words, Bytes) {
  EXPECT_EQ(bytes(512e6), "512 MB");
  EXPECT_EQ(bytes(1.04e9), "1.04 GB");
  EXPECT_EQ(bytes(786432), "786 kB");
  EXPECT_EQ(bytes(0), "0.00 bytes");
}

}  // namespace
}  // namespace tare::judge
