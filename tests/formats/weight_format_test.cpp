// Names and sizes, against numbers from the formats' own specifications.
#include "formats/weight_format.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "formats/decode.h"

namespace tare::formats {
namespace {

TEST(WeightFormat, NamesAndNumbersAreUnique) {
  std::set<std::string_view> names;
  std::set<std::uint32_t> types;
  for (const WeightFormat& format : weight_formats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_TRUE(types.insert(format.type).second) << format.name;
    EXPECT_EQ(type_number(format.name), format.type);
    EXPECT_EQ(type_name(format.type), format.name);
  }
  EXPECT_EQ(type_number(type_name(TARE_BF16_AS_INT8)), std::uint32_t{TARE_BF16_AS_INT8});
  EXPECT_EQ(find_format(std::uint32_t{TARE_BF16_AS_INT8}), nullptr) << "no weights are like that";
  EXPECT_EQ(type_number("q9"), 0u);
  EXPECT_EQ(type_name(99), "");
}

TEST(WeightFormat, BytesOfWeightsAndScales) {
  const auto bits = [](std::uint32_t type) { return weight_bytes(type, 1024, 10) * 8 / 10240; };
  EXPECT_DOUBLE_EQ(bits(TARE_BF16), 16);
  EXPECT_DOUBLE_EQ(bits(TARE_F32), 32);
  EXPECT_DOUBLE_EQ(bits(TARE_INT8_CHANNEL), 8 + 16. / 1024);
  EXPECT_DOUBLE_EQ(bits(TARE_INT4_G128), 4.125);
  EXPECT_DOUBLE_EQ(bits(TARE_INT4_G128_F16), 4.125);
  EXPECT_DOUBLE_EQ(bits(TARE_INT4_G128_ZEROS_F16), 4.1875);
  EXPECT_DOUBLE_EQ(bits(TARE_MLX_INT4_G64), 4.5);
  EXPECT_DOUBLE_EQ(bits(TARE_MLX_INT4_G64_F16), 4.5);
  EXPECT_DOUBLE_EQ(bits(TARE_MLX_INT8_G64), 8.5);
  EXPECT_DOUBLE_EQ(bits(TARE_GGUF_Q8_0), 8.5);
  EXPECT_DOUBLE_EQ(bits(TARE_GGUF_Q4_0), 4.5);
  EXPECT_DOUBLE_EQ(bits(TARE_GGUF_Q5_0), 5.5);
  EXPECT_DOUBLE_EQ(bits(TARE_GGUF_Q4_K), 4.5);
  EXPECT_DOUBLE_EQ(bits(TARE_GGUF_Q6_K), 6.5625);
}

TEST(Layout, PartsBeginOnLinesOfTheirOwn) {
  const Layout planes = layout_of(format_of(TARE_MLX_INT4_G64), 64, 3);
  EXPECT_EQ(planes.code_row, 32u);
  EXPECT_EQ(planes.scales, 128u);
  EXPECT_EQ(planes.biases, 192u);
  EXPECT_EQ(planes.total_bytes, 198u);
  const Layout zeros = layout_of(format_of(TARE_INT4_G128_ZEROS), 256, 3);
  EXPECT_EQ(zeros.scales, 384u);
  EXPECT_EQ(zeros.biases, 448u);
  EXPECT_EQ(zeros.total_bytes, 454u);
  const Layout channel = layout_of(format_of(TARE_INT8_CHANNEL), 7, 9);
  EXPECT_EQ(channel.groups, 1u);
  EXPECT_EQ(channel.scales, 64u);
  EXPECT_EQ(channel.total_bytes, 82u);
  EXPECT_EQ(layout_of(format_of(TARE_GGUF_Q6_K), 512, 3).total_bytes, 3 * 420u);
}

// Of whichever family: behind all else, on a line of its own, and counted in the bytes.
TEST(Layout, ABiasOfTheOutputsLiesBehindAllElse) {
  EXPECT_EQ(layout_of(format_of(TARE_BF16), 7, 9, TARE_BF16).output_bias, 128u);
  EXPECT_EQ(layout_of(format_of(TARE_BF16), 7, 9, TARE_BF16).total_bytes, 128u + 18);
  const Layout planes = layout_of(format_of(TARE_MLX_INT4_G64), 64, 3, TARE_F32);
  EXPECT_EQ(planes.output_bias, 256u);
  EXPECT_EQ(planes.total_bytes, 268u);
  EXPECT_EQ(layout_of(format_of(TARE_GGUF_Q6_K), 512, 3, TARE_F16).output_bias, 1280u);
  EXPECT_EQ(weight_bytes(TARE_BF16, 7, 9, TARE_F32), 7 * 9 * 2 + 36);
  EXPECT_THROW(layout_of(format_of(TARE_BF16), 7, 9, TARE_GGUF_Q8_0), Error);
  EXPECT_THROW(layout_of(format_of(TARE_BF16), 7, 9, 99), Error);
}

TEST(Layout, RefusesHalfABlock) {
  EXPECT_THROW(layout_of(format_of(TARE_GGUF_Q4_K), 640, 1), Error);
  EXPECT_NO_THROW(layout_of(format_of(TARE_GGUF_Q5_0), 640, 1));
  EXPECT_THROW(format_of(99), Error);
}

// By hand, from the comments of tare/arm.h.
TEST(Decode, Int4OfGroups128) {
  std::vector<std::uint8_t> bytes(64 + 2, 0x88);
  bytes[0] = 0xF0;  // weight 0 is -8, weight 1 is 7
  bytes[64] = 0x80;
  bytes[65] = 0x3F;  // 1
  std::vector<double> w;
  dequantise_row(format_of(TARE_INT4_G128), 128, 1, bytes.data(), 0, w);
  EXPECT_EQ(w[0], -8);
  EXPECT_EQ(w[1], 7);
  EXPECT_EQ(w[2], 0);
}

// 0x3F80 is 1 in bf16, and 1.875 in f16.
TEST(Decode, ScalesAreF16WhereTheTypeSaysSo) {
  std::vector<std::uint8_t> bytes(128 + 2, 0x02);
  bytes[128] = 0x80, bytes[129] = 0x3F;
  std::vector<double> w;
  dequantise_row(format_of(TARE_INT8_G128), 128, 1, bytes.data(), 0, w);
  EXPECT_EQ(w[0], 2);
  dequantise_row(format_of(TARE_INT8_G128_F16), 128, 1, bytes.data(), 0, w);
  EXPECT_EQ(w[0], 3.75);
  dequantise_row(format_of(TARE_INT8_CHANNEL_F16), 128, 1, bytes.data(), 0, w);
  EXPECT_EQ(w[127], 3.75);
}

TEST(Decode, Int8OfChannels) {
  std::vector<std::uint8_t> bytes(64 + 4);
  const std::uint8_t codes[] = {1, 0xFF, 0x80, 127, 2, 3};  // two outputs of three
  std::copy(std::begin(codes), std::end(codes), bytes.begin());
  bytes[64] = 0x80, bytes[65] = 0x3F;  // 1
  bytes[66] = 0x00, bytes[67] = 0xC0;  // -2
  std::vector<double> w;
  dequantise_row(format_of(TARE_INT8_CHANNEL), 3, 2, bytes.data(), 0, w);
  EXPECT_EQ(w, (std::vector<double>{1, -1, -128}));
  dequantise_row(format_of(TARE_INT8_CHANNEL), 3, 2, bytes.data(), 1, w);
  EXPECT_EQ(w, (std::vector<double>{-254, -4, -6}));
}

}  // namespace
}  // namespace tare::formats
