// The published files that scripts/real-models fetches. The values were read with the gguf 0.19.0
// Python package and from the safetensors header with Python's json module.
#include <algorithm>
#include <map>

#include "tests/problem/files.h"

namespace tare::problem {
namespace {

using Lines = std::vector<std::string>;

class RealModels : public testing::Test {
 protected:
  // Skips the test where the file was not fetched.
  void find(const std::string& file) {
    path_ = std::filesystem::path(TARE_DEPS) / "models" / file;
    if (!std::filesystem::exists(path_))
      GTEST_SKIP() << path_ << " is absent; scripts/real-models fetches it";
  }
  std::filesystem::path path_;
};

TEST_F(RealModels, Gemma3With270Million) {
  find("gemma-3-270m-q4_k_m.gguf");
  if (IsSkipped()) return;
  const Model model = read_model(path_);
  EXPECT_EQ(model.name, "Gemma 3 270m");
  const Lines all = lines(model);
  for (const char* one : {"q 640x1024 *18 Q5_0", "o 1024x640 *18 Q4_K", "gate/up 640x2048 *36 Q5_0",
                          "lm_head 640x262144 *1 Q8_0"})
    EXPECT_EQ(std::count(all.begin(), all.end(), one), 1) << one;
  // Some layers' v and down are stored in more bits than others'.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::map<std::string, std::uint64_t>> mixed;
  for (const Projection& p : model.projections) mixed[{p.k, p.n}][p.stored] += p.count;
  const auto& narrow = mixed[{640, 256}];
  const auto& down = mixed[{2048, 640}];
  EXPECT_EQ(narrow.size(), 2u);
  EXPECT_EQ(narrow.at("Q5_0") + narrow.at("Q8_0"), 36u);
  EXPECT_EQ(down.at("Q4_K") + down.at("Q6_K"), 18u);
  // 268,098,176 parameters in the file, less the norms: 18 x (4 x 640 + 2 x 256) + 640.
  EXPECT_EQ(model.weights_per_token, 268098176u - (18u * (4 * 640 + 2 * 256) + 640));
  EXPECT_TRUE(model.notes.empty());
}

TEST_F(RealModels, Gemma3CutShort) {
  find("gemma-3-270m-q4_k_m.gguf");
  if (IsSkipped()) return;
  const Folder folder;
  std::string head(8 << 20, '\0');
  std::ifstream(path_, std::ios::binary)
      .read(head.data(), static_cast<std::streamsize>(head.size()));
  // The header of this file, with its 262,144 tokens, ends within the first 8 MB.
  for (const std::size_t length :
       {3u, 4u, 20u, 24u, 1000u, 100'000u, 1'000'000u, 4'000'000u, 8u << 20}) {
    const auto cut = folder.write("cut.gguf", std::string_view(head).substr(0, length));
    expect_error([&] { read_model(cut); }, {"cut.gguf'"});
  }
}

TEST_F(RealModels, MiniLm) {
  find("all-MiniLM-L6-v2/model.safetensors");
  if (IsSkipped()) return;
  const Model model = read_model(path_);
  EXPECT_EQ(model.name, "all-MiniLM-L6-v2");
  EXPECT_EQ(lines(model), (Lines{"q/k/v/o/pooler.dense 384x384 *25 F32", "up 384x1536 *6 F32",
                                 "down 1536x384 *6 F32"}));
  EXPECT_EQ(model.weights_per_token, 25u * 384 * 384 + 12u * 384 * 1536);
  EXPECT_EQ(lines(read_model(path_.parent_path())), lines(model))
      << "a folder stands for its only model file";
}

}  // namespace
}  // namespace tare::problem
