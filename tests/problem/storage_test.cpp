#include "problem/storage.h"

#include <gtest/gtest.h>

#include "problem/problem.h"
#include "tare/arm.h"

namespace tare::problem {
namespace {

Storage storage(Scheme scheme, std::uint32_t bits, std::uint64_t group, const char* scales) {
  Storage made{.scheme = scheme, .bits = bits, .group = group};
  made.scales.type = scales;
  return made;
}

TEST(Storage, NamesSayHowWeightsAreStored) {
  EXPECT_EQ(name_of(storage(Scheme::kMlx, 4, 64, "BF16"), 512), "mlx4-g64");
  EXPECT_EQ(name_of(storage(Scheme::kGptq, 4, 128, "F16"), 512), "gptq4-g128-f16");
  EXPECT_EQ(name_of(storage(Scheme::kCompressed, 8, 512, "BF16"), 512), "ct8-channel");
  Storage awq = storage(Scheme::kAwq, 4, 128, "F16");
  awq.has_zeros = true;
  EXPECT_EQ(name_of(awq, 512), "awq4-g128-zeros-f16");
  awq.reordered = true;
  EXPECT_EQ(name_of(awq, 512), "awq4-g128-zeros-act-order-f16");
  Storage plain{.scheme = Scheme::kBlocks};
  plain.codes.type = "Q4_K";
  EXPECT_EQ(name_of(plain, 512), "Q4_K");
}

struct Case {
  const char* stored;
  std::uint32_t type;
  bool itself;
  double bits;  // of a weight, by hand: codes, 16 / group for a scale, as much for a bias, zeros
};
// For a name that fails.
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.stored;
}
class WeighedAsTest : public testing::TestWithParam<Case> {};

TEST_P(WeighedAsTest, TheFormatItselfOrTheNearest) {
  const WeighedAs weighed = weighed_as(GetParam().stored);
  EXPECT_EQ(weighed.type, GetParam().type);
  EXPECT_EQ(weighed.itself, GetParam().itself);
  EXPECT_DOUBLE_EQ(weighed.bits, GetParam().bits);
  EXPECT_EQ(weight_type(GetParam().stored), GetParam().type);
}

INSTANTIATE_TEST_SUITE_P(
    Names, WeighedAsTest,
    testing::Values(Case{"BF16", TARE_BF16, true, 16}, Case{"F32", TARE_F32, true, 32},
                    Case{"Q4_K", TARE_GGUF_Q4_K, true, 4.5},
                    Case{"mlx4-g64", TARE_MLX_INT4_G64, true, 4.5},
                    Case{"mlx8-g64", TARE_MLX_INT8_G64, true, 8.5},
                    Case{"mlx4-g64-f16", TARE_MLX_INT4_G64_F16, true, 4.5},
                    Case{"mlx4-g128", TARE_MLX_INT4_G64, false, 4.25},
                    Case{"mlx4-g32", TARE_MLX_INT4_G64, false, 5},
                    Case{"mlx6-g64", 0, false, 6.5},  // nothing has six bits and biases
                    Case{"gptq4-g128-f16", TARE_INT4_G128_F16, true, 4.125},
                    Case{"ct4-g128", TARE_INT4_G128, true, 4.125},
                    Case{"ct4-channel", TARE_INT4_G128, false, 4},
                    Case{"gptq4-g64-f16", TARE_INT4_G128_F16, false, 4.25},
                    Case{"ct4-g32", TARE_INT4_G128, false, 4.5},
                    Case{"gptq4-g32-zeros-f16", TARE_INT4_G128_ZEROS_F16, false, 4.625},
                    Case{"gptq4-g16-zeros-f16", 0, false, 5.25},  // 25 % more bytes
                    Case{"awq4-g128-zeros-f16", TARE_INT4_G128_ZEROS_F16, true, 4.15625},
                    Case{"ct4-g128-zeros", TARE_INT4_G128_ZEROS, true, 4.15625},
                    Case{"awq4-g64-zeros-f16", TARE_INT4_G128_ZEROS_F16, false, 4.3125},
                    Case{"gptq8-g128-zeros-f16", TARE_INT8_G128_F16, false, 8.1875},
                    Case{"gptq4-g128-act-order-f16", TARE_INT4_G128_F16, false, 4.125},
                    Case{"gptq8-g128-f16", TARE_INT8_G128_F16, true, 8.125},
                    Case{"gptq3-g128-f16", 0, false, 3.125},
                    Case{"ct8-channel", TARE_INT8_CHANNEL, true, 8},
                    Case{"ct8-channel-f16", TARE_INT8_CHANNEL_F16, true, 8},
                    Case{"F8_E4M3", TARE_INT8_CHANNEL, false, 8}, Case{"", 0, false, 0},
                    Case{"IQ4_XS", 0, false, 0}, Case{"int4-g128", 0, false, 0},
                    Case{"mlx4", 0, false, 0}, Case{"mlxx-g64", 0, false, 0}));

}  // namespace
}  // namespace tare::problem
