#include "problem/projections.h"

#include "tests/problem/files.h"

namespace tare::problem {
namespace {

using Lines = std::vector<std::string>;

Model small_model() {
  ProjectionList list;
  // In an order of no meaning: the list brings its own.
  list.add("lm_head", 8, 100, 1, "Q8_0");
  list.add("zebra", 8, 8, 1, "F32");
  list.add("down", 32, 8, 3, "Q6_K");
  list.add("down", 32, 8, 3, "Q4_K");
  list.add("up", 8, 32, 6, "Q4_K");
  list.add("gate", 8, 32, 6, "Q4_K");
  list.add("o", 8, 8, 6, "Q4_K");
  list.add("v", 8, 4, 6, "");
  list.add("k", 8, 4, 6, "");
  list.add("q", 8, 8, 6, "Q4_K");
  list.add("ant", 5, 5, 1, "F32");
  return {.name = "small",
          .source = "",
          .projections = list.merged(),
          .weights_per_token = list.elements(),
          .notes = {}};
}

TEST(Projections, EqualShapesMergeInTheOrderOfADecoder) {
  const Model model = small_model();
  EXPECT_EQ(lines(model), (Lines{"q/o 8x8 *12 Q4_K", "k/v 8x4 *12", "gate/up 8x32 *12 Q4_K",
                                 "down 32x8 *3 Q4_K", "down 32x8 *3 Q6_K", "lm_head 8x100 *1 Q8_0",
                                 "ant 5x5 *1 F32", "zebra 8x8 *1 F32"}));
  EXPECT_EQ(model.weights_per_token, 64u * 13 + 32u * 12 + 256u * 12 + 256u * 6 + 800u + 25u);
}

TEST(Projections, EachNameOfAJoinedOneIsCounted) {
  ProjectionList list;
  list.add("k", 8, 4, 3, "Q4_K");
  list.add("v", 8, 4, 2, "Q4_K");
  const std::vector<Projection> merged = list.merged();
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(names_in(merged[0]), (Lines{"k", "v"}));
  EXPECT_EQ(merged[0].counts, (std::vector<std::uint64_t>{3, 2}));
  EXPECT_EQ(merged[0].count, 5u);
}

Lines places_of(const std::vector<Matrix>& matrices) {
  Lines lines;
  for (const Matrix& matrix : matrices)
    lines.push_back((matrix.layer ? std::to_string(*matrix.layer) : "-") + ' ' + matrix.name);
  return lines;
}

TEST(Projections, MatricesStandInTheOrderInWhichATokenMeetsThem) {
  ProjectionList list;
  list.add({"lm_head", std::nullopt, 8, 100, ""});
  list.add("down", 32, 8, 2, "");
  list.add("q", 8, 8, 2, "");
  list.add({"q", 10, 8, 8, ""});  // after 2, though not by letter
  EXPECT_EQ(places_of(list.in_order()),
            (Lines{"0 q", "0 down", "1 q", "1 down", "10 q", "- lm_head"}));
}

TEST(Projections, AFilterKeepsTheMatricesOfWhatItKeeps) {
  Model model;
  ProjectionList list;
  list.add("q", 8, 8, 2, "");
  list.add("o", 8, 8, 2, "");  // kept with q, as its rows are
  list.add("down", 32, 8, 2, "");
  model.projections = list.merged();
  model.matrices = list.in_order();
  keep_only(model, {"q"});
  EXPECT_EQ(places_of(model.matrices), (Lines{"0 q", "0 o", "1 q", "1 o"}));
}

TEST(Projections, FilterKeepsByNameOrPartOfIt) {
  Model model = small_model();
  const std::uint64_t before = model.weights_per_token;
  keep_only(model, {"o", "down"});
  EXPECT_EQ(lines(model), (Lines{"q/o 8x8 *12 Q4_K", "down 32x8 *3 Q4_K", "down 32x8 *3 Q6_K"}));
  EXPECT_EQ(model.weights_per_token, before) << "the base of the shares is the whole model";

  Model joined = small_model();
  keep_only(joined, {"k/v"});
  EXPECT_EQ(lines(joined), Lines{"k/v 8x4 *12"});

  Model unfiltered = small_model();
  keep_only(unfiltered, {});
  EXPECT_EQ(lines(unfiltered), lines(small_model()));
}

TEST(Projections, FilterSaysWhatThereIs) {
  Model model = small_model();
  expect_error(
      [&] {
        keep_only(model, {"q", "qkv"});
      },
      {"model 'small' has no projection 'qkv'", "q, o, k, v, gate, up, down, lm_head, ant, zebra"});
  expect_error([&] { keep_only(model, {""}); }, {"no projection ''"});
  EXPECT_EQ(lines(model), lines(small_model())) << "a filter that fails changes nothing";
}

TEST(Projections, BareShapeCanBeKept) {
  Model model = parse_shape("4x4");
  keep_only(model, {"-"});
  EXPECT_EQ(model.projections.size(), 1u);
}

}  // namespace
}  // namespace tare::problem
