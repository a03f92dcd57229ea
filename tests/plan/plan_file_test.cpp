// The file: what goes in comes out, and whatever was done to it is told.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <random>

#include "base/error.h"
#include "report/digest.h"
#include "tests/plan/fixture.h"

namespace tare::plan {
namespace {

using nlohmann::json;
using report::samples::TemporaryFile;
using testing::HasSubstr;

std::string sentence_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.blame(), Blame::kInput);
    return error.what();
  }
  return "";
}
std::string sentence_for(const std::string& text) {
  return sentence_of([&] { decode(text, "'plan.json'"); });
}

// A file with its digest made right again: what another program could write.
std::string edited(const std::function<void(json&)>& edit) {
  json object = json::parse(encode(fixture::plan()));
  edit(object);
  object.erase("digest");
  object["digest"] = report::digest(object);
  return object.dump();
}

TEST(PlanFile, GivesBackWhatWentIn) {
  Plan plan = fixture::plan(judge::Equality::kBounded, 7);
  plan.decisions[0].certificate = json{{"any", {1, 2, "three"}}};
  plan.decisions[1].interval.high = HUGE_VAL;
  const Plan back = decode(encode(plan), "");
  EXPECT_EQ(encode(back), encode(plan));
  ASSERT_EQ(back.decisions.size(), 2u);
  EXPECT_TRUE(same_problem(back.decisions[0].problem, plan.decisions[0].problem));
  EXPECT_EQ(back.decisions[0].equality, judge::Equality::kBounded);
  EXPECT_EQ(back.decisions[0].ratio, plan.decisions[0].ratio);
  EXPECT_EQ(back.decisions[0].certificate, plan.decisions[0].certificate);
  EXPECT_EQ(back.decisions[1].interval.high, HUGE_VAL);
  EXPECT_EQ(back.keys.isa, plan.keys.isa);
  EXPECT_EQ(back.keys.modules.size(), plan.keys.modules.size());
}

TEST(PlanFile, NoFlippedBitGoesThrough) {
  const std::string text = encode(fixture::plan());
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random{seed};
  const json whole = json::parse(text);
  for (int i = 0; i < 400; ++i) {
    std::string flipped = text;
    const std::size_t at = random() % text.size();
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random() % 8)));
    // White space means nothing.
    if (const json other = json::parse(flipped, nullptr, false); other == whole) continue;
    EXPECT_NE(sentence_for(flipped), "") << "byte " << at;
  }
}

TEST(PlanFile, NoPartOfAFileGoesThrough) {
  const std::string text = encode(fixture::plan());
  for (std::size_t size = 0; size < text.size() - 2; size += 7)
    EXPECT_THAT(sentence_for(text.substr(0, size)), HasSubstr("cut short")) << size;
}

TEST(PlanFile, SaysWhichSchemaItKnows) {
  const auto newer = edited([](json& object) { object["schema"] = "tare.plan/2"; });
  EXPECT_THAT(sentence_for(newer), HasSubstr("'tare.plan/2', and this Tare knows 'tare.plan/1'"));
  EXPECT_THAT(sentence_for("{\"kind\": \"header\"}"), HasSubstr("it names no schema"));
  EXPECT_THAT(sentence_for("[]"), HasSubstr("it names no schema"));
}

TEST(PlanFile, AnEditedDecisionDoesNotStand) {
  json object = json::parse(encode(fixture::plan()));
  object["decisions"][1]["decision"] = "serve";
  EXPECT_THAT(sentence_for(object.dump()), HasSubstr("its digest is not that of what it says"));
  object.erase("digest");
  EXPECT_THAT(sentence_for(object.dump()), HasSubstr("digest"));
}

TEST(PlanFile, NamesTheFieldThatIsWrong) {
  EXPECT_THAT(sentence_for(edited([](json& o) { o["decisions"][1].erase("rows"); })),
              HasSubstr("field 'decisions[1].rows' is missing"));
  EXPECT_THAT(sentence_for(edited([](json& o) { o["decisions"][0]["k"] = -1; })),
              HasSubstr("field 'decisions[0].k' is -1: it must be a whole number"));
  EXPECT_THAT(sentence_for(edited([](json& o) { o["decisions"][0]["rows"] = 1e30; })),
              HasSubstr("decisions[0].rows"));
  EXPECT_THAT(sentence_for(edited([](json& o) { o["decisions"][0]["weights"] = "q99"; })),
              HasSubstr("an element type"));
  EXPECT_THAT(sentence_for(edited([](json& o) { o["decisions"][0]["equality"] = "nearly"; })),
              HasSubstr("decisions[0].equality"));
  EXPECT_THAT(sentence_for(edited([](json& o) { o["keys"] = 3; })), HasSubstr("an object"));
  EXPECT_THAT(sentence_for(edited([](json& o) { o["keys"]["isa"] = {1}; })), HasSubstr("a text"));
}

TEST(PlanFile, IsReplacedInOneStep) {
  const TemporaryFile file;
  write_plan(file.path(), fixture::plan());
  const Plan other = fixture::plan(judge::Equality::kBounded);
  write_plan(file.path(), other);
  EXPECT_EQ(encode(read_plan(file.path())), encode(other));
  for (const auto& entry : std::filesystem::directory_iterator(file.path().parent_path()))
    EXPECT_FALSE(entry.path().string().starts_with(file.path().string() + ".")) << entry.path();
}

TEST(PlanFile, SaysWhereItCannotBe) {
  EXPECT_THAT(sentence_of([] { write_plan("/nowhere/at/all/plan.json", fixture::plan()); }),
              HasSubstr("/nowhere/at/all"));
  EXPECT_THAT(sentence_of([] { read_plan("/nowhere/plan.json"); }), HasSubstr("tare plan MODEL"));
  EXPECT_THAT(sentence_of([] { read_plan("/dev/zero"); }), HasSubstr("no such file"));
}

}  // namespace
}  // namespace tare::plan
