// Weights straight from the layout of a file, against the packages that write such files.
#include "load/stored_matrix.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "load/lay_down.h"
#include "tests/load/fixture.h"
#include "tests/problem/files.h"

namespace tare::load {
namespace {

using problem::expect_error;
using Names = std::vector<std::string>;

Names stored_in(const Fixture& file) {
  Names names;
  for (const problem::Matrix& matrix : file.model.matrices) names.push_back(matrix.stored);
  return names;
}

// `step`: how far a weight may be off, in units of the last place of its largest part in f32.
void expect_weights(const Fixture& file, double step) {
  std::vector<double> row;
  for (std::size_t layer = 0; layer < file.model.matrices.size(); ++layer) {
    const StoredMatrix stored = file.stored(layer);
    for (std::uint64_t j = 0; j < stored.source().n; ++j) {
      original_row(stored, j, row);
      const std::vector<double> wanted = file.weights(layer, j);
      ASSERT_EQ(row.size(), wanted.size());
      for (std::size_t i = 0; i < row.size(); ++i)
        ASSERT_LE(std::abs(row[i] - wanted[i]), step * 0x1p-24 * 0.25)
            << file.path << " layer " << layer << " output " << j << " element " << i;
    }
  }
}

TEST(StoredMatrix, Gptq) {
  const Fixture file("gptq.safetensors");
  EXPECT_EQ(stored_in(file), (Names{"gptq4-g128-f16", "gptq4-g128-zeros-f16",
                                    "gptq4-g128-act-order-f16", "gptq8-g128-f16"}));
  expect_weights(file, 0);
}

TEST(StoredMatrix, Awq) {
  const Fixture file("awq.safetensors");
  EXPECT_EQ(stored_in(file), (Names{"awq4-g128-f16", "awq4-g128-zeros-f16"}));
  expect_weights(file, 0);
}

TEST(StoredMatrix, CompressedTensors) {
  const Fixture file("compressed.safetensors");
  EXPECT_EQ(stored_in(file),
            (Names{"ct4-g128-f16", "ct8-channel-f16", "ct4-g128-zeros-f16", "ct8-channel-f32"}));
  expect_weights(file, 0);
}

// MLX's own dequantize rounds to f32; magnitudes here are below a quarter.
TEST(StoredMatrix, Mlx) {
  const Fixture file("mlx/model.safetensors");
  EXPECT_EQ(stored_in(file), (Names{"mlx4-g64", "mlx8-g64", "mlx4-g128", "mlx4-g64-f16"}));
  expect_weights(file, 2);
}

TEST(StoredMatrix, GgufBlocks) {
  const Fixture file("blocks.gguf");
  EXPECT_EQ(stored_in(file), (Names{"Q8_0", "Q4_0", "Q5_0", "Q4_K", "Q6_K", "F16", "BF16"}));
  expect_weights(file, 4);  // gguf multiplies and adds in f32; Q6_K reaches 4
}

// One output of four tensors of the published file that scripts/real-models fetches, as the gguf
// Python package (0.19.0) dequantises them: its weights 0, 1, 33 and the last.
TEST(StoredMatrix, Gemma3With270Million) {
  const auto path = std::filesystem::path(TARE_DEPS) / "models/gemma-3-270m-q4_k_m.gguf";
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << path << " is absent; scripts/real-models fetches it";
  struct Output {
    const char* tensor;
    std::uint64_t row;
    double weights[4];
  };
  constexpr Output kOutputs[] = {
      {"blk.0.attn_q.weight", 5, {-0x1.bcp-6, -0x1.bcp-6, -0x1.f1p-6, 0x1.16p-8}},
      {"blk.3.ffn_down.weight", 639, {0x1.1b1cp-10, -0x1.0d5p-6, -0x1.743cp-9, -0x1.41cp-11}},
      {"blk.17.attn_output.weight", 100, {-0x1.c2d4p-5, -0x1.729p-10, 0x1.28b04p-4, 0x1.808e8p-6}},
      {"token_embd.weight", 262143, {-0x1.eedp-8, 0x1.6014p-5, 0x1.0ap-9, -0x1.1d7cp-6}}};
  const problem::Model model = problem::read_model(path);
  std::vector<double> row;
  for (const Output& output : kOutputs) {
    const auto matrix = std::ranges::find(model.matrices, output.tensor, &problem::Matrix::tensor);
    ASSERT_NE(matrix, model.matrices.end()) << output.tensor;
    const StoredMatrix stored(source_of(*matrix));
    original_row(stored, output.row, row);
    const double got[] = {row[0], row[1], row[33], row.back()};
    for (int i = 0; i < 4; ++i) EXPECT_EQ(got[i], output.weights[i]) << output.tensor << " " << i;
    EXPECT_NE(in_place(stored, stored.source().type), nullptr) << "the file keeps whole lines";
  }
}

TEST(StoredMatrix, DigestsTellWeightsApart) {
  const Fixture file("gptq.safetensors");
  EXPECT_EQ(file.stored(0).digest(), file.stored(0).digest());
  EXPECT_NE(file.stored(0).digest(), file.stored(1).digest());
  EXPECT_EQ(file.stored(0).digest().size(), 32u);
}

TEST(StoredMatrix, FilesThatShrank) {
  const problem::Folder folder;
  const Fixture file("gptq.safetensors");
  const auto copy = folder.path() / "copy.safetensors";
  std::filesystem::copy_file(file.path, copy);
  const problem::Model model = problem::read_model(copy);
  std::filesystem::resize_file(copy, 1000);
  for (const problem::Matrix& matrix : model.matrices)
    expect_error([&] { StoredMatrix{source_of(matrix)}; }, {"copy.safetensors'", "cut short"});
  std::filesystem::remove(copy);
  expect_error([&] { StoredMatrix{source_of(model.matrices[0])}; },
               {"copy.safetensors'", "cannot be opened"});
}

TEST(StoredMatrix, PartsThatDoNotFit) {
  const Fixture file("gptq.safetensors");
  const Source good = source_of(file.matrix(2));
  const auto expect_broken = [&](auto change, const char* says) {
    Source bad = good;
    change(bad);
    expect_error([&] { StoredMatrix{bad}; }, {"gptq.safetensors'", says});
  };
  expect_broken([](Source& s) { s.codes.bytes -= 4; }, "the codes of a matrix");
  expect_broken([](Source& s) { s.scales.bytes -= 2; }, "the scales of a matrix");
  expect_broken([](Source& s) { s.zeros = {}; }, "the zeros or biases");
  expect_broken([](Source& s) { s.order.bytes -= 4; }, "the groups of act-order");
  expect_broken([](Source& s) { s.group = 0; }, "groups of 0");
  expect_broken([](Source& s) { s.group = 96; }, "groups of 96");
  expect_broken([](Source& s) { s.bits = 3; }, "codes of 3 bits");
  expect_broken([](Source& s) { s.codes.offset = ~std::uint64_t{0} - 4; }, "cut short");
  // The codes read as groups: most are beyond the last.
  expect_broken([](Source& s) { s.order.offset = s.codes.offset; }, "act-order puts element");
}

TEST(StoredMatrix, ShapesWithoutWeights) {
  const problem::Model model = problem::default_models().front();
  expect_error([&] { source_of(model.matrices.front()); }, {"'q'", "only its shape is known"});
}

}  // namespace
}  // namespace tare::load
