// Packed weights of .safetensors files, by their headers: data are zeros. What real packers write
// is tests/load's.
#include "problem/packed.h"

#include "tests/problem/files.h"

namespace tare::problem {
namespace {

using Lines = std::vector<std::string>;

constexpr const char* kModule = "model.layers.0.mlp.down_proj.";

struct Part {
  std::string name;
  std::string type;
  std::vector<std::uint64_t> shape;
};

std::uint64_t element_bytes(const std::string& type) {
  if (type == "I64") return 8;
  if (type == "F16" || type == "BF16") return 2;
  return type == "I8" || type == "U8" ? 1 : 4;
}

// A file of these parts of one module, all zeros but for a weight_shape of 128 x 256.
std::string file_of(const std::vector<Part>& parts) {
  std::string header, data;
  for (const Part& part : parts) {
    std::uint64_t bytes = element_bytes(part.type);
    for (const std::uint64_t dimension : part.shape) bytes *= dimension;
    header += (header.empty() ? "{" : ",") + entry(kModule + part.name, part.type,
                                                   fmt::format("{}", fmt::join(part.shape, ",")),
                                                   data.size(), data.size() + bytes);
    data += part.name == "weight_shape" ? little_endian(128, 8) + little_endian(256, 8)
                                        : std::string(bytes, '\0');
  }
  return safetensors(header + "}", 0) + data;
}

class Packed : public testing::Test {
 protected:
  Model read(const std::vector<Part>& parts, const std::string& config = "") {
    if (!config.empty()) folder_.write("config.json", config);
    return read_model(folder_.write("m.safetensors", file_of(parts)));
  }
  void expect_unlisted(const std::vector<Part>& parts, const std::string& why,
                       const std::string& config = "") {
    expect_error(
        [&] { read(parts, config); },
        {"m.safetensors'", "1 weights are stored packed and not listed", why, "down_proj"});
  }
  Folder folder_;
};

TEST_F(Packed, ShapesOfEachKind) {
  EXPECT_EQ(lines(read({{"weight", "U32", {128, 32}},
                        {"scales", "BF16", {128, 4}},
                        {"biases", "BF16", {128, 4}}})),
            Lines{"down 256x128 *1 mlx4-g64"});
  EXPECT_EQ(lines(read({{"qweight", "I32", {32, 128}},
                        {"scales", "F16", {2, 128}},
                        {"qzeros", "I32", {2, 16}}})),
            Lines{"down 256x128 *1 gptq4-g128-zeros-f16"});
  EXPECT_EQ(lines(read({{"qweight", "I32", {64, 128}},
                        {"scales", "F16", {1, 128}},
                        {"qzeros", "I32", {1, 32}}})),
            Lines{"down 256x128 *1 gptq8-channel-zeros-f16"});
  EXPECT_EQ(lines(read({{"qweight", "I32", {256, 16}},
                        {"scales", "F16", {2, 128}},
                        {"qzeros", "I32", {2, 16}}})),
            Lines{"down 256x128 *1 awq4-g128-zeros-f16"});
  EXPECT_EQ(lines(read({{"weight_packed", "I32", {128, 32}},
                        {"weight_scale", "BF16", {128, 2}},
                        {"weight_shape", "I64", {2}}})),
            Lines{"down 256x128 *1 ct4-g128"});
  EXPECT_EQ(lines(read({{"weight", "I8", {128, 256}}, {"weight_scale", "BF16", {128, 1}}})),
            Lines{"down 256x128 *1 ct8-channel"});
}

TEST_F(Packed, MlxBitsComeFromTheConfigWhereShapesDoNotTell) {
  const std::vector<Part> parts = {
      {"weight", "U32", {128, 64}}, {"scales", "BF16", {128, 4}}, {"biases", "BF16", {128, 4}}};
  EXPECT_EQ(lines(read(parts)), Lines{"down 256x128 *1 mlx8-g64"});
  EXPECT_EQ(lines(read(parts, R"({"quantization":{"group_size":128,"bits":4}})")),
            Lines{"down 512x128 *1 mlx4-g128"});
  EXPECT_EQ(lines(read(parts, R"({"quantization":{"group_size":64,"bits":4,
                "model.layers.0.mlp.down_proj":{"group_size":64,"bits":8}}})")),
            Lines{"down 256x128 *1 mlx8-g64"});
  expect_unlisted(parts, "config.json says 4 bits in groups of 64, and its shapes say 512",
                  R"({"quantization":{"group_size":64,"bits":4}})");
  EXPECT_EQ(lines(read(parts, R"({"quantization":{"group_size":-1,"bits":"four"}})")),
            Lines{"down 256x128 *1 mlx8-g64"});
  expect_error([&] { read(parts, "[]"); }, {"config.json'", "must be a JSON object"});
}

TEST_F(Packed, GptqZerosAreStoredLessOneBeforeVersionTwo) {
  const std::vector<Part> parts = {
      {"qweight", "I32", {32, 128}}, {"scales", "F16", {2, 128}}, {"qzeros", "I32", {2, 16}}};
  EXPECT_TRUE(read(parts).matrices[0].storage.zeros_less_one);
  const std::string v2 =
      R"({"quantization_config":{"quant_method":"gptq","checkpoint_format":"gptq_v2"}})";
  EXPECT_FALSE(read(parts, v2).matrices[0].storage.zeros_less_one);
}

TEST_F(Packed, AFolderOfQuantisedWeightsStandsForTheWeights) {
  const std::vector<Part> parts = {
      {"weight", "U32", {128, 32}}, {"scales", "BF16", {128, 4}}, {"biases", "BF16", {128, 4}}};
  read(parts, R"({"quantization":{"group_size":64,"bits":4}})");
  EXPECT_EQ(lines(read_model(folder_.path())), Lines{"down 256x128 *1 mlx4-g64"});
}

TEST_F(Packed, WhatIsNotReadIsNamed) {
  expect_unlisted({{"weight", "U32", {128, 32}}, {"scales", "BF16", {128, 4}}}, "no 'biases'");
  expect_unlisted({{"weight", "U32", {128, 32}}, {"scales", "U8", {128, 8}}}, "scales of 8 bits");
  expect_unlisted(
      {{"weight", "U32", {128, 32}}, {"scales", "BF16", {128, 3}}, {"biases", "BF16", {128, 3}}},
      "is no multiple of 3");
  expect_unlisted(
      {{"qweight", "I32", {24, 128}}, {"scales", "F16", {2, 128}}, {"qzeros", "I32", {2, 12}}},
      "codes of 3 bits are not read");
  expect_unlisted({{"qweight", "I32", {32, 128}}, {"scales", "F16", {2, 128}}}, "no 'qzeros'");
  expect_unlisted(
      {{"qweight", "I32", {32, 128}}, {"scales", "F16", {3, 128}}, {"qzeros", "I32", {3, 16}}},
      "k = 256 is no multiple of 3");
  expect_unlisted({{"weight_packed", "I32", {64, 32}},
                   {"weight_scale", "BF16", {64, 2}},
                   {"weight_shape", "I64", {2}}},
                  "do not fit it");
  expect_unlisted({{"weight", "U8", {128, 256}}}, "U8 of a kind that is not read");
  expect_unlisted(
      {{"weight", "U32", {128, 48}}, {"scales", "BF16", {128, 4}}, {"biases", "BF16", {128, 4}}},
      "mlx6-g64: nothing here has 6.5 bits a weight");
}

TEST_F(Packed, CutAndChangedFilesNeverCrash) {
  const std::string bytes = file_of({{"qweight", "I32", {4, 8}},
                                     {"scales", "F16", {1, 8}},
                                     {"qzeros", "I32", {1, 1}},
                                     {"g_idx", "I32", {32}}});
  const auto file = folder_.write("cut.safetensors", bytes);
  read_with_changed_bytes(file, bytes.find("}}") + 2, {0x01, 0x10, 0x80, 0xFF});
  expect_error_at_every_cut(file);
}

}  // namespace
}  // namespace tare::problem
