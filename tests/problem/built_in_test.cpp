#include "tests/problem/files.h"

namespace tare::problem {
namespace {

using Lines = std::vector<std::string>;

TEST(BuiltIn, TheTwoDefaultModels) {
  const std::vector<Model> models = default_models();
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].name, "Qwen2.5-1.5B");
  EXPECT_EQ(models[0].source, "built in");
  EXPECT_EQ(lines(models[0]),
            (Lines{"q/o 1536x1536 *56", "k/v 1536x256 *56", "gate/up 1536x8960 *56",
                   "down 8960x1536 *28", "lm_head 1536x151936 *1"}));
  EXPECT_EQ(models[1].name, "Qwen3-8B");
  EXPECT_EQ(lines(models[1]),
            (Lines{"q/o 4096x4096 *72", "k/v 4096x1024 *72", "gate/up 4096x12288 *72",
                   "down 12288x4096 *36", "lm_head 4096x151936 *1"}));
}

// From the model cards: 1.54 billion parameters, 1.31 without embedding (norms and biases are far
// below the last digit); 8.2 billion, 6.95 without.
TEST(BuiltIn, WeightsAgreeWithTheModelCards) {
  const std::vector<Model> models = default_models();
  const std::uint64_t head = 151936;
  EXPECT_NEAR(static_cast<double>(models[0].weights_per_token), 1.54e9, 0.005e9);
  EXPECT_NEAR(static_cast<double>(models[0].weights_per_token - head * 1536), 1.31e9, 0.005e9);
  EXPECT_NEAR(static_cast<double>(models[1].weights_per_token + head * 4096), 8.2e9, 0.05e9);
  EXPECT_NEAR(static_cast<double>(models[1].weights_per_token - head * 4096), 6.95e9, 0.005e9);
}

}  // namespace
}  // namespace tare::problem
