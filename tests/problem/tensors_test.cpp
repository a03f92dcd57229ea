#include "problem/tensors.h"

#include <map>

#include "tests/problem/files.h"

namespace tare::problem {
namespace {

Tensor tensor(const std::string& name, std::vector<std::uint64_t> shape) {
  return {.name = name,
          .meaning = read_safetensors_name(name),
          .shape = std::move(shape),
          .type = "BF16"};
}

TEST(Tensors, ShapesAreNByK) {
  Model model;
  add_tensors(model, {tensor("a.self_attn.q_proj.weight", {256, 1536})}, Extent::kWhole, "'f'");
  EXPECT_EQ(lines(model), std::vector<std::string>{"q 1536x256 *1 BF16"});
}

// "layers.0.self_attn.q_proj.bias" belongs to the weight of that name; a matrix is no bias, nor is
// a vector of another length or of an unknown type.
TEST(Tensors, BiasesBelongToTheirMatrices) {
  Model model;
  Tensor wide = tensor("layers.0.self_attn.k_proj.bias", {256});
  wide.type = "F32";
  Tensor unknown = tensor("layers.0.mlp.up_proj.bias", {64});
  unknown.type = "F8_E4M3";
  add_tensors(model,
              {tensor("layers.0.self_attn.q_proj.weight", {256, 1536}),
               tensor("layers.0.self_attn.q_proj.bias", {256}),
               tensor("layers.0.self_attn.k_proj.weight", {256, 1536}), wide,
               tensor("layers.0.self_attn.v_proj.weight", {256, 1536}),
               tensor("layers.0.self_attn.v_proj.bias", {255}),
               tensor("layers.0.mlp.up_proj.weight", {64, 64}), unknown},
              Extent::kWhole, "'f'");
  EXPECT_EQ(lines(model), (std::vector<std::string>{"q/k/v 1536x256 *3 BF16", "up 64x64 *1 BF16"}))
      << "until they are taken";
  take_biases(model);
  std::map<std::string, std::uint32_t> found;
  for (const Projection& one : model.projections) found[one.name] = one.bias;
  EXPECT_EQ(found, (std::map<std::string, std::uint32_t>{
                       {"q", TARE_BF16}, {"k", TARE_F32}, {"v", 0}, {"up", 0}}));
}

TEST(Tensors, BeyondTheLimitsIsAnError) {
  Model model;
  expect_error(
      [&] {
        add_tensors(model, {tensor("w", {std::uint64_t{1} << 25, 1})}, Extent::kWhole, "'f'");
      },
      {"'f': tensor 'w'", "from 1 to 16777216"});
}

TEST(Tensors, PartsAreKnownByTheirNames) {
  EXPECT_EQ(extent_of("a/model-00001-of-00004.safetensors"), Extent::kPart);
  EXPECT_EQ(extent_of("a/qwen-00002-of-00002.gguf"), Extent::kPart);
  EXPECT_EQ(extent_of("a-of-0/model.safetensors"), Extent::kWhole);
}

TEST(Tensors, SpansMayTouchAndBeEmpty) {
  std::vector<Span> spans = {{8, 4, "c"}, {0, 8, "a"}, {8, 0, "b"}, {12, 0, "d"}};
  EXPECT_NO_THROW(check_spans(spans, 12, "'f'"));
  EXPECT_EQ(spans.back().name, "d");
  expect_error([&] { check_spans(spans, 11, "'f'"); },
               {"'f'", "'c' takes 4 bytes from byte 8", "has 11"});
}

TEST(Tensors, SpansThatWrapAround) {
  std::vector<Span> spans = {{~std::uint64_t{0} - 3, 8, "a"}};
  expect_error([&] { check_spans(spans, 100, "'f'"); }, {"'a' takes 8 bytes"});
}

}  // namespace
}  // namespace tare::problem
