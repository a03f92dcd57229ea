// The scalar emulation against hand-made values and, where there is one, against the instruction it
// emulates.
#include "kernels/bf16_arithmetic.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/cpu/support.h"
#include "tests/kernels/reference.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tare::kernels {
namespace {

std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
float from_bits(std::uint32_t value) {
  return std::bit_cast<float>(value);
}

TEST(Narrow, RoundsToNearestEven) {
  EXPECT_EQ(narrow(1.0F), 0x3F80);
  EXPECT_EQ(narrow(from_bits(0x3F808000)), 0x3F80);  // half way: down to even
  EXPECT_EQ(narrow(from_bits(0x3F818000)), 0x3F82);  // half way: up to even
  EXPECT_EQ(narrow(from_bits(0x3F808001)), 0x3F81);
  EXPECT_EQ(narrow(std::numeric_limits<float>::max()), 0x7F80);  // rounds to infinity
}

TEST(Narrow, FlushesSubnormalsAndQuietsNan) {
  EXPECT_EQ(narrow(from_bits(0x007FFFFF)),
            0x0000);  // would round up to the smallest normal, is flushed first
  EXPECT_EQ(narrow(from_bits(0x80000001)), 0x8000);
  EXPECT_EQ(narrow(from_bits(0x7F800001)), 0x7FC0);
  EXPECT_EQ(narrow(from_bits(0xFF812345)), 0xFFC1);
}

TEST(MultiplyAdd, RoundsOnce) {
  // 1 + 2^-24 + a little: rounding the sum 1 + 2^-24 on the way would lose the little and go down
  // to even.
  EXPECT_EQ(multiply_add_flushed(0x1p-12F, 0x1p-12F, 1.0F), 1.0F);
  EXPECT_EQ(multiply_add_flushed(0x1.02p-12F, 0x1p-12F, 1.0F), 1.0F + 0x1p-23F);
  EXPECT_EQ(multiply_add_flushed(0x1p+60F, -0x1p+60F, 0x1p+120F), 0.0F);
}

TEST(MultiplyAdd, FlushesWhatIsTinyAfterRounding) {
  const float smallest = std::numeric_limits<float>::min();  // 2^-126
  EXPECT_EQ(bits(multiply_add_flushed(0x1p-70F, 0x1p-70F, 0.0F)), 0u);
  EXPECT_EQ(bits(multiply_add_flushed(-0x1p-70F, 0x1p-70F, 0.0F)),
            0x80000000u);  // a zero of its sign
  EXPECT_EQ(multiply_add_flushed(0x1p-63F, 0x1p-63F, 0.0F), smallest);
  EXPECT_EQ(multiply_add_flushed(-0x1p-76F, 0x1p-75F, smallest),
            smallest);  // 1 - 2^-25: to even, not tiny
  EXPECT_EQ(multiply_add_flushed(-0x1p-75F, 0x1p-75F, smallest),
            0.0F);  // 1 - 2^-24: a number, tiny
}

TEST(DotPair, AddsTheOddElementFirst) {
  const Bf16Pair ones = 0x3F803F80u;
  const auto pair = [](float odd, float even) {
    return static_cast<Bf16Pair>(narrow(odd)) << 16 | narrow(even);
  };
  EXPECT_EQ(dot_pair(0.0F, ones, pair(0x1p30F, 1.0F)), 0x1p30F);
  EXPECT_EQ(dot_pair(-0x1p30F, ones, pair(0x1p30F, 1.0F)), 1.0F);  // the other order would give 0
  EXPECT_EQ(dot_pair(-0x1p30F, ones, pair(1.0F, 0x1p30F)), 0.0F);
}

TEST(NanOf, NamesTheLastNanFactorWeightsFirst) {
  const Bf16 one = 0x3F80, a = 0x7FC1;
  const Bf16 x[] = {one, a, one};  // odd k
  const Bf16Pair clean[] = {0x3F803F80u, 0x3F80u};
  const Bf16Pair both[] = {0xFFC23F80u, 0x3F80u};
  const Bf16Pair late[] = {0x3F803F80u, 0x7F83u};  // signaling
  EXPECT_EQ(nan_of(x, 3, clean, 1, 0, 2), 0x7FC10000u);
  EXPECT_EQ(nan_of(x, 3, both, 1, 0, 2), 0xFFC20000u);
  EXPECT_EQ(nan_of(x, 3, late, 1, 0, 2), 0x7FC30000u);
  EXPECT_EQ(nan_of(x, 3, late, 1, 0, 1), 0x7FC10000u);
  const Bf16 infinite[] = {0x7F80, 0x0000};
  EXPECT_EQ(nan_of(infinite, 2, clean, 1, 0, 1), kDefaultNan);
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512vl,avx512bf16"))) float by_instruction(float sum, Bf16Pair x,
                                                                            Bf16Pair w) {
  const auto all = [](Bf16Pair pair) __attribute__((target("avx512f,avx512vl,avx512bf16"))) {
    return reinterpret_cast<__m128bh>(_mm_set1_epi32(static_cast<int>(pair)));
  };
  return _mm_cvtss_f32(_mm_dpbf16_ps(_mm_set1_ps(sum), all(w), all(x)));
}

__attribute__((target("avx512f,avx512vl,avx512bf16"))) Bf16 narrowed_by_instruction(float value) {
  const auto rounded = reinterpret_cast<__m128i>(_mm_cvtneps_pbh(_mm_set1_ps(value)));
  return static_cast<Bf16>(_mm_extract_epi16(rounded, 0));
}

class Instruction : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_avx512_bf16()) GTEST_SKIP() << "this processor has no AVX-512 BF16";
  }
};

// Any bits; or exponents chosen so that sums round, cancel, and land about the smallest normal.
std::uint32_t any_sum(std::mt19937_64& random) {
  const auto drawn = static_cast<std::uint32_t>(random());
  switch (random() % 4) {
    case 0:
      return drawn & 0x807FFFFFu;
    case 1:
      return (drawn & 0x807FFFFFu) | static_cast<std::uint32_t>(random() % 4) << 23;
    case 2:
      return (drawn & 0x807FFFFFu) | static_cast<std::uint32_t>(120 + random() % 16) << 23;
    default:
      return drawn;
  }
}
Bf16 any_factor(std::mt19937_64& random) {
  const auto drawn = static_cast<Bf16>(random());
  const auto exponent = [&](std::uint64_t e) {
    return static_cast<Bf16>((drawn & 0x807Fu) | e << 7);
  };
  switch (random() % 6) {
    case 0:
      return exponent(0);
    case 1:
      return exponent(62 + random() % 4);
    case 2:
      return exponent(120 + random() % 16);
    case 3:
      return exponent(254 + random() % 2);
    case 4:
      return static_cast<Bf16>((drawn & 0x8000u) | 0x7F80u);
    default:
      return drawn;
  }
}

TEST_F(Instruction, DotPairHasItsBits) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const auto pair = [&] {
    return static_cast<Bf16Pair>(any_factor(random)) << 16 | any_factor(random);
  };
  std::uint64_t nans = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const float sum = from_bits(any_sum(random));
    const Bf16Pair x = pair();
    const Bf16Pair w = pair();
    const std::uint32_t expected = bits(by_instruction(sum, x, w));
    ASSERT_EQ(bits(reference::dot_pair(sum, x, w)), expected)
        << std::hex << bits(sum) << ' ' << x << ' ' << w;
    if (from_bits(expected) == from_bits(expected)) {
      ASSERT_EQ(bits(dot_pair(sum, x, w)), expected)
          << std::hex << bits(sum) << ' ' << x << ' ' << w;
    } else {
      ++nans;
    }
  }
  EXPECT_GT(nans, 1000u);
}

TEST_F(Instruction, NarrowHasItsBits) {
  for (std::uint64_t value = 0; value < (std::uint64_t{1} << 32); value += 4099) {
    const float one = from_bits(static_cast<std::uint32_t>(value));
    ASSERT_EQ(narrow(one), narrowed_by_instruction(one)) << std::hex << value;
  }
}
#endif

}  // namespace
}  // namespace tare::kernels
