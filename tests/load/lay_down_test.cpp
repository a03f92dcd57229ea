// Weights in the layouts of tare/arm.h: what they stand for is what the file's own layout does, or
// they are refused.
#include "load/lay_down.h"

#include "formats/decode.h"
#include "formats/weight_format.h"
#include "tests/load/fixture.h"
#include "tests/problem/files.h"

namespace tare::load {
namespace {

using problem::expect_error;

// The weights of a layer as `type` has them, read back by that type's own rules, are those of the
// package that made the file.
void expect_same_weights(const Fixture& file, std::size_t layer, std::uint32_t type) {
  SCOPED_TRACE(testing::Message() << file.path << " layer " << layer << " type " << type);
  const StoredMatrix stored = file.stored(layer);
  const std::uint64_t k = stored.source().k, n = stored.source().n;
  const formats::WeightFormat& format = formats::format_of(type);
  std::vector<std::uint8_t> bytes(formats::layout_of(format, k, n).total_bytes, 0xA5);
  lay_down(stored, type, bytes.data());
  std::vector<double> own, original;
  for (std::uint64_t j = 0; j < n; ++j) {
    formats::dequantise_row(format, k, n, bytes.data(), j, own);
    original_row(stored, j, original);
    ASSERT_EQ(own, original) << j;
    const std::vector<double> wanted = file.weights(layer, j);
    for (std::uint64_t i = 0; i < k; ++i) ASSERT_NEAR(own[i], wanted[i], 0x1p-24) << j << " " << i;
  }
}

void expect_refused(const Fixture& file, std::size_t layer, std::uint32_t type, const char* says) {
  SCOPED_TRACE(testing::Message() << file.path << " layer " << layer << " type " << type);
  const StoredMatrix stored = file.stored(layer);
  const auto& format = formats::format_of(type);
  std::vector<std::uint8_t> bytes(
      formats::layout_of(format, stored.source().k, stored.source().n).total_bytes);
  expect_error([&] { lay_down(stored, type, bytes.data()); },
               {file.path.filename().string() + "'", "cannot be had as", says});
}

TEST(LayDown, Gptq) {
  const Fixture file("gptq.safetensors");
  expect_same_weights(file, 0, TARE_INT4_G128_F16);
  expect_same_weights(file, 3, TARE_INT8_G128_F16);
  expect_refused(file, 0, TARE_INT4_G128, "is no number of bf16");
  expect_refused(file, 0, TARE_INT8_G128_F16, "have 4 bits");
  expect_refused(file, 0, TARE_BF16, "codes with scales");
  expect_refused(file, 1, TARE_INT4_G128_F16, "zeros that are not half");
  expect_same_weights(file, 1, TARE_INT4_G128_ZEROS_F16);
  expect_same_weights(file, 0, TARE_INT4_G128_ZEROS_F16);  // all zeros half of the range
  expect_refused(file, 1, TARE_INT4_G128_ZEROS, "is no number of bf16");
  expect_refused(file, 1, TARE_MLX_INT4_G64, "is no number of bf16");
  expect_refused(file, 2, TARE_INT4_G128_F16, "act-order: element");
  expect_refused(file, 3, TARE_INT8_CHANNEL_F16, "a scale for every 128");
}

TEST(LayDown, Awq) {
  const Fixture file("awq.safetensors");
  expect_same_weights(file, 0, TARE_INT4_G128_F16);
  expect_refused(file, 1, TARE_INT4_G128_F16, "zeros that are not half");
  expect_same_weights(file, 1, TARE_INT4_G128_ZEROS_F16);
}

TEST(LayDown, CompressedTensors) {
  const Fixture file("compressed.safetensors");
  expect_same_weights(file, 0, TARE_INT4_G128_F16);
  expect_same_weights(file, 1, TARE_INT8_CHANNEL_F16);
  expect_same_weights(file, 1, TARE_INT8_G128_F16);  // the scale of an output, repeated
  expect_refused(file, 2, TARE_INT4_G128_F16, "zeros that are not half");
  expect_same_weights(file, 2, TARE_INT4_G128_ZEROS_F16);
  expect_same_weights(file, 3, TARE_INT8_CHANNEL);  // f32 scales that bf16 holds
  expect_refused(file, 3, TARE_MLX_INT8_G64, "they have none");
}

TEST(LayDown, Mlx) {
  const Fixture file("mlx/model.safetensors");
  expect_same_weights(file, 0, TARE_MLX_INT4_G64);
  expect_same_weights(file, 1, TARE_MLX_INT8_G64);
  expect_same_weights(file, 2, TARE_MLX_INT4_G64);  // groups of 128: two of 64
  expect_refused(file, 3, TARE_MLX_INT4_G64, "is no number of bf16");
  expect_same_weights(file, 3, TARE_MLX_INT4_G64_F16);
  expect_refused(file, 2, TARE_INT4_G128_ZEROS, "they have biases");
  expect_refused(file, 0, TARE_INT4_G128, "a scale for every 64");
}

// The package's f16 and bf16 are exact; of blocks its f32 products are not.
TEST(LayDown, PlainAndBlocks) {
  const Fixture file("blocks.gguf");
  const std::uint32_t types[] = {TARE_GGUF_Q8_0, TARE_GGUF_Q4_0, TARE_GGUF_Q5_0, TARE_GGUF_Q4_K,
                                 TARE_GGUF_Q6_K, TARE_F16,       TARE_BF16};
  for (std::size_t layer = 0; layer < std::size(types); ++layer) {
    const StoredMatrix stored = file.stored(layer);
    std::vector<std::uint8_t> bytes(stored.codes().size());
    lay_down(stored, types[layer], bytes.data());
    EXPECT_TRUE(std::ranges::equal(bytes, stored.codes())) << layer;
    expect_refused(file, layer, TARE_F32, "they are ");
  }
}

TEST(InPlace, OnlyTheFilesOwnLayoutAtAWholeLine) {
  const Fixture blocks("blocks.gguf"), packed("mlx/model.safetensors");
  std::size_t whole = 0;
  for (std::size_t layer = 0; layer < blocks.model.matrices.size(); ++layer) {
    const StoredMatrix stored = blocks.stored(layer);
    const bool aligned = reinterpret_cast<std::uintptr_t>(stored.codes().data()) % 64 == 0;
    EXPECT_EQ(in_place(stored, stored.source().type), aligned ? stored.codes().data() : nullptr);
    EXPECT_EQ(in_place(stored, TARE_F32), nullptr);
    whole += aligned ? 1 : 0;
  }
  EXPECT_GT(whole, 0u);
  const StoredMatrix stored = packed.stored(0);
  EXPECT_EQ(in_place(stored, TARE_MLX_INT4_G64), nullptr) << "its planes lie apart in the file";
}

}  // namespace
}  // namespace tare::load
