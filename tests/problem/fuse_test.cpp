// Which projections become one dispatch, and what stays as it is.
#include <gtest/gtest.h>

#include "base/error.h"
#include "problem/problem.h"
#include "problem/projections.h"

namespace tare::problem {
namespace {

Model named(const std::string& name) {
  for (Model& model : default_models())
    if (model.name == name) return std::move(model);
  return {};
}

// Shapes from Qwen2.5-1.5B's config.json: hidden 1536, 2 of 12 heads for k and v, 8960 wide.
TEST(Fuse, LaysQKAndVSideBySideAndGateAndUp) {
  Model model = named("Qwen2.5-1.5B");
  const std::uint64_t before = model.weights_per_token;
  fuse(model);
  ASSERT_EQ(model.projections.size(), 5u);
  const Projection& qkv = model.projections[0];
  EXPECT_EQ(qkv.name, "q+k+v");
  EXPECT_EQ(qkv.k, 1536u);
  EXPECT_EQ(qkv.n, 1536u + 256 + 256);
  EXPECT_EQ(qkv.count, 28u);
  EXPECT_EQ(qkv.parts, (std::vector<std::uint64_t>{1536, 256, 256}));
  EXPECT_EQ(model.projections[1].name, "o");
  EXPECT_TRUE(model.projections[1].parts.empty());
  EXPECT_EQ(model.projections[2].name, "gate+up");
  EXPECT_EQ(model.projections[2].n, 2 * 8960u);
  EXPECT_EQ(model.projections[3].name, "down");
  EXPECT_EQ(model.projections[4].name, "lm_head");
  std::uint64_t after = 0;
  for (const Projection& one : model.projections) after += one.k * one.n * one.count;
  EXPECT_EQ(after, before);
}

TEST(Fuse, TakesBiasesAlong) {
  Model model = named("Qwen2.5-1.5B");
  take_biases(model);
  fuse(model);
  ASSERT_EQ(model.projections.size(), 5u);
  EXPECT_EQ(model.projections[0].name, "q+k+v");
  EXPECT_EQ(model.projections[0].bias, std::uint32_t{TARE_BF16});
  EXPECT_EQ(model.projections[1].bias, 0u);
}

TEST(Fuse, LeavesApartWhatHasABiasAndWhatHasNone) {
  Model model = named("Qwen2.5-1.5B");
  for (Matrix& matrix : model.matrices)
    if (matrix.name == "v") matrix.bias = 0;
  take_biases(model);
  fuse(model);
  EXPECT_EQ(model.projections[0].name, "q");
  ASSERT_FALSE(model.notes.empty());
}

TEST(Fuse, KeepsTheOrderInWhichATokenMeetsThem) {
  Model model = named("Qwen2.5-1.5B");
  fuse(model);
  ASSERT_EQ(model.matrices.size(), 28 * 4 + 1u);
  EXPECT_EQ(model.matrices[0].name, "q+k+v");
  EXPECT_EQ(model.matrices[1].name, "o");
  EXPECT_EQ(model.matrices[2].name, "gate+up");
  EXPECT_EQ(model.matrices[3].name, "down");
  EXPECT_EQ(model.matrices.back().name, "lm_head");
}

TEST(Fuse, IsFoundByTheNamesOfItsParts) {
  for (const char* name : {"k", "q+k+v"}) {
    Model model = named("Qwen2.5-1.5B");
    fuse(model);
    keep_only(model, {name});
    ASSERT_EQ(model.projections.size(), 1u);
    EXPECT_EQ(model.projections[0].name, "q+k+v");
    EXPECT_EQ(model.matrices.size(), 28u);
  }
}

// Real files: Q4_K_M stores half of the v as Q6_K.
TEST(Fuse, LeavesApartWhatIsNotStoredAlike) {
  ProjectionList list;
  for (const std::uint64_t layer : {0u, 1u}) {
    list.add({"q", layer, 64, 64, "Q4_K"});
    list.add({"k", layer, 64, 16, "Q4_K"});
    list.add({"v", layer, 64, 16, layer == 0 ? "Q4_K" : "Q6_K"});
    list.add({"gate", layer, 64, 96, "Q4_K"});  // no up
  }
  Model model;
  model.projections = list.merged();
  model.matrices = list.in_order();
  fuse(model);
  std::vector<std::string> names;
  for (const Matrix& matrix : model.matrices) names.push_back(matrix.name);
  EXPECT_EQ(names, (std::vector<std::string>{"q+k+v", "gate", "q", "k", "v", "gate"}));
  ASSERT_EQ(model.notes.size(), 1u);
  EXPECT_EQ(model.notes[0], "q+k+v stay apart in one layer: they are not stored alike");
}

TEST(Fuse, SaysThatABareShapeHasNoLayers) {
  Model shape = parse_shape("64x64");
  EXPECT_THROW(fuse(shape), Error);
}

}  // namespace
}  // namespace tare::problem
