// The certificate: what it may be relied on for, and that nothing but a whole one is read back.
#include "prove/certificate.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tare::prove {
namespace {

using Json = nlohmann::json;

Certificate flawless() {
  Certificate made = blank_certificate();
  made.tare = "0.1.0";
  made.processor = "a processor";
  made.implementation = {"mine",
                         "Mine 1",
                         "mine",
                         "mine.so",
                         std::string(32, 'a'),
                         {{{1, 2}, "a kernel", "AVX2", "", 2}}};
  made.incumbent = "theirs";
  made.incumbent_hash = std::string(32, 'b');
  made.problem = {512, 64, 2, TARE_BF16, TARE_BF16, TARE_BF16, TARE_F32, 0};
  made.rows = {1, 2};
  made.seed = 18446744073709551615ULL;
  for (Invariance& line : made.invariances) {
    line.held = Held::kEqual;
    line.compared = 192;
    line.why = "";
  }
  made.classes = {{.name = "normal",
                   .elements = 192,
                   .error = {64, 0.5, 0.29},
                   .incumbent_error = {64, 0.5, 0.29}}};
  made.manners.dispatches = 40;
  made.manners.guard_pages = made.manners.control_word = Held::kEqual;
  return made;
}

std::string complaint(const Json& json) {
  try {
    certificate_from_json(json, "plan.json: certificate");
  } catch (const Error& error) {
    EXPECT_EQ(error.blame(), Blame::kInput);
    return error.what();
  }
  return "";
}

TEST(Certificate, ProvesAllFourEqualitiesWhenEveryCellHeld) {
  const Certificate made = flawless();
  EXPECT_TRUE(proves_incumbent(made));
  EXPECT_TRUE(proves_one_row(made));
  EXPECT_TRUE(proves_self(made));
  EXPECT_TRUE(proves_bounded(made));
}

TEST(Certificate, ProvesNothingWhenNothingWasTried) {
  const Certificate blank = blank_certificate();
  EXPECT_FALSE(proves_incumbent(blank) || proves_one_row(blank) || proves_self(blank) ||
               proves_bounded(blank));
}

TEST(Certificate, ProvesNothingAfterAnOffence) {
  const auto offended = [](auto offend) {
    Certificate made = flawless();
    offend(made);
    return proves_incumbent(made) || proves_one_row(made) || proves_self(made) ||
           proves_bounded(made);
  };
  EXPECT_FALSE(offended([](Certificate& made) { made.failure = "it crashed"; }));
  EXPECT_FALSE(offended([](Certificate& made) { made.manners.unwritten = 1; }));
  EXPECT_FALSE(offended([](Certificate& made) { made.manners.wrote_outside = "one byte"; }));
  EXPECT_FALSE(offended([](Certificate& made) { made.manners.guard_pages = Held::kDiffer; }));
  EXPECT_FALSE(offended([](Certificate& made) { made.manners.control_word = Held::kDiffer; }));
}

TEST(Certificate, EachEqualityAsksForItsOwnCells) {
  Certificate other_order = flawless();
  other_order.classes[0].differing = other_order.classes[0].differing_one_row = 1;
  EXPECT_FALSE(proves_incumbent(other_order) || proves_one_row(other_order));
  EXPECT_TRUE(proves_self(other_order) && proves_bounded(other_order));

  Certificate follows_incumbent = flawless();  // whose one-row kernel is another
  follows_incumbent.classes[0].differing_one_row = 1;
  invariance(follows_incumbent, "rows").held = Held::kDiffer;
  EXPECT_TRUE(proves_incumbent(follows_incumbent));
  EXPECT_FALSE(proves_one_row(follows_incumbent) || proves_self(follows_incumbent));

  Certificate less_exact = flawless();
  less_exact.classes[0].error.max = 0.6;
  EXPECT_FALSE(proves_bounded(less_exact));
  EXPECT_TRUE(proves_self(less_exact));

  Certificate threads_untried = flawless();
  invariance(threads_untried, "threads").held = Held::kNotTried;
  EXPECT_FALSE(proves_self(threads_untried));
  EXPECT_TRUE(batch_invariant(threads_untried));

  Certificate spoiled = flawless();
  invariance(spoiled, "NaN neighbour").held = Held::kDiffer;
  EXPECT_FALSE(batch_invariant(spoiled) || proves_self(spoiled));
}

TEST(Certificate, WithoutAnIncumbentOnlySelfCanBeProved) {
  Certificate alone = flawless();
  alone.incumbent.clear();
  EXPECT_TRUE(proves_self(alone));
  EXPECT_FALSE(proves_incumbent(alone) || proves_one_row(alone) || proves_bounded(alone));
}

TEST(Certificate, PoolsErrors) {
  Certificate made = flawless();
  made.classes.push_back({.name = "real", .elements = 64, .error = {192, 2, 1}});
  EXPECT_EQ(total_error(made).elements, 256u);
  EXPECT_EQ(total_error(made).max, 2);
  EXPECT_DOUBLE_EQ(total_error(made).rms, std::sqrt((64 * 0.29 * 0.29 + 192) / 256));
}

TEST(Certificate, JsonReadsBackTheSame) {
  Certificate made = flawless();
  Invariance& broken = invariance(made, "threads");
  broken = {"threads", Held::kDiffer, 192, 3, "1, 2 threads", {2, 1, 63, "1 thread", "real", 1, 2}};
  invariance(made, "ISA") = {"ISA", Held::kNotTried, 0, 0, "compiled for one instruction set", {}};
  const Json json = to_json(made);
  const Certificate read = certificate_from_json(Json::parse(json.dump()), "here");
  EXPECT_EQ(to_json(read), json);
  EXPECT_EQ(read.seed, made.seed);
  EXPECT_EQ(invariance(read, "threads").first.output, 63u);
  EXPECT_EQ(read.implementation.ran[0].rows, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(read.problem.weights, std::uint32_t{TARE_BF16});
  EXPECT_EQ(json["invariances"][7]["held"], "not tried");
}

TEST(Certificate, PassesOverFieldsItDoesNotKnow) {
  Json json = to_json(flawless());
  json["later"] = 1;
  EXPECT_EQ(complaint(json), "");
}

TEST(Certificate, EveryFieldIsAskedFor) {
  const Json whole = to_json(flawless());
  for (const auto& [name, value] : whole.items()) {
    if (value.is_null()) continue;  // need not be there
    Json json = whole;
    json.erase(name);
    EXPECT_NE(complaint(json).find("'" + name + "' is missing"), std::string::npos) << name;
    json[name] = nullptr;
    EXPECT_NE(complaint(json), "") << name;
  }
}

TEST(Certificate, SaysWhatContradicts) {
  const auto changed = [](const char* path, const Json& value) {
    Json json = to_json(flawless());
    json[Json::json_pointer(path)] = value;
    return complaint(json);
  };
  EXPECT_EQ(changed("/version", 2),
            "plan.json: certificate: a certificate of version 2; this Tare reads version 1. Prove "
            "anew.");
  EXPECT_EQ(
      changed("/problem/weights", "q9_9"),
      "plan.json: certificate: field 'problem.weights' is \"q9_9\": it must be an element type, "
      "such as \"bf16\" or \"q4_k\".");
  EXPECT_EQ(changed("/rows", {2, 1}),
            "plan.json: certificate.rows: must be row counts in ascending order, one at least.");
  EXPECT_EQ(
      changed("/rows/0", -1),
      "plan.json: certificate: field 'rows[0]' is -1: it must be a whole number of at least 0.");
  EXPECT_NE(changed("/invariances/0/held", "perhaps").find("must be one of"), std::string::npos);
  EXPECT_NE(changed("/invariances/0/compared", 0).find("too few"), std::string::npos);
  EXPECT_NE(changed("/invariances/0/differing", 1).find("contradicts"), std::string::npos);
  EXPECT_NE(changed("/invariances/0/name", "luck").find("in their order"), std::string::npos);
  EXPECT_NE(changed("/classes/0/differing", 193).find("more elements"), std::string::npos);
  EXPECT_NE(changed("/classes/0/error/rms", -1).find("negative or not finite"), std::string::npos);
  EXPECT_NE(changed("/manners", 3).find("must be an object"), std::string::npos);
}

}  // namespace
}  // namespace tare::prove
