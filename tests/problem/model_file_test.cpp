// read_model: what a path may be. The formats have tests of their own.
#include <nlohmann/json.hpp>

#include "tests/problem/files.h"

namespace tare::problem {
namespace {

constexpr const char* kConfig = R"({"model_type":"llama","hidden_size":64,"intermediate_size":128,
    "num_attention_heads":4,"num_hidden_layers":2,"vocab_size":100})";

std::string one_matrix() {
  return safetensors("{" + entry("w", "F32", "2,3", 0, 24) + "}", 24);
}

class ModelFile : public testing::Test {
 protected:
  void expect_sentence(const std::string& bytes, const std::vector<std::string>& parts) {
    const auto path = folder_.write("config.json", bytes);
    expect_error([&] { read_model(path); }, parts);
  }
  Folder folder_;
};

TEST_F(ModelFile, Config) {
  const auto path = folder_.write("Tiny/config.json", kConfig);
  const Model model = read_model(path);
  EXPECT_EQ(model.name, "Tiny");
  EXPECT_EQ(model.source, path.string());
  EXPECT_EQ(model.projections.size(), 4u);
  EXPECT_EQ(read_model(folder_.write("other-name", std::string("\xEF\xBB\xBF \n") + kConfig)).name,
            "other-name");
}

TEST_F(ModelFile, FolderStandsForItsConfig) {
  folder_.write("Tiny/config.json", kConfig);
  folder_.write("Tiny/model.safetensors", "not looked at");
  EXPECT_EQ(read_model(folder_.path() / "Tiny").projections.size(), 4u);
  EXPECT_EQ(read_model(folder_.path() / "Tiny").name, "Tiny");
  EXPECT_EQ(read_model((folder_.path() / "Tiny").string() + "/").name, "Tiny");
}

TEST_F(ModelFile, FolderStandsForItsOnlyWeights) {
  folder_.write("Tiny/model.safetensors", one_matrix());
  folder_.write("Tiny/tokenizer.model", "not looked at");
  EXPECT_EQ(read_model(folder_.path() / "Tiny").name, "Tiny");
  folder_.write("Tiny/second.gguf", "not looked at");
  expect_error([&] { read_model(folder_.path() / "Tiny"); },
               {"Tiny'", "2 model files", "model.safetensors'"});
}

TEST_F(ModelFile, FolderWithoutAModel) {
  expect_error([&] { read_model(folder_.path()); },
               {folder_.path().string(), "without config.json"});
}

TEST_F(ModelFile, WhatIsNoModelIsSaid) {
  expect_error([&] { read_model(folder_.path() / "absent.json"); },
               {"absent.json'", "no such file"});
  expect_error([&] { read_model(""); }, {"''", "no such file"});
  expect_error([&] { read_model("/dev/null"); }, {"not a regular file"});
  expect_sentence("", {"config.json'", "the file is empty"});
  for (const char* const other :
       {" \n ", "[]", "null", "hello", "\x89PNG\r\n\x1a\n....", "GGU", "\xff\xfe{\x01"}) {
    expect_sentence(other,
                    {"config.json'", "neither a JSON object nor a .safetensors or .gguf file"});
  }
  expect_sentence(std::string(64, '\0'), {"neither a JSON object"});
  expect_sentence("version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
                  {"Git LFS pointer", "git lfs pull"});
  expect_sentence("PK\x03\x04...........", {"PyTorch archive", ".safetensors"});
}

TEST_F(ModelFile, ConfigCutAtEveryByteIsAnError) {
  expect_error_at_every_cut(folder_.write("config.json", kConfig));
  expect_sentence(std::string(kConfig).substr(0, 30), {"not JSON: it ends, at byte 30"});
}

TEST_F(ModelFile, ConfigWithChangedBytesNeverCrashes) {
  const auto path = folder_.write("config.json", kConfig);
  read_with_changed_bytes(path, std::string_view(kConfig).size(), {1, 2, 4, 8, 16, 32, 64, 128});
}

TEST_F(ModelFile, TooLargeForAConfig) {
  const auto path = folder_.write("config.json", "{");
  std::filesystem::resize_file(path, (64 << 20) + 1);  // sparse; never read
  expect_error([&] { read_model(path); }, {"a JSON file of 67108865 bytes"});
}

TEST_F(ModelFile, UnreadableFile) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const auto path = folder_.write("config.json", kConfig);
  std::filesystem::permissions(path, std::filesystem::perms::none);
  expect_error([&] { read_model(path); }, {"config.json'", "cannot be read", "ermission"});
}

// Whatever a file names ends in a JSON report, which has room for UTF-8 only.
TEST_F(ModelFile, NamesOfPathsAreText) {
  const Model model = read_model(folder_.write("\xff\n.json", kConfig));
  EXPECT_NO_THROW(nlohmann::json(model.source).dump());
  EXPECT_NO_THROW(nlohmann::json(model.name).dump());
  EXPECT_EQ(model.source.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace tare::problem
