// What one visitor writes the other reads, and what it cannot read it names.
#include "records/json_fields.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "records/fields.h"

namespace tare::records {
namespace {

enum class Mood { kGood, kBad };
constexpr Words<Mood, 2> kMoods{{{Mood::kGood, "good"}, {Mood::kBad, "bad"}}};

struct Pair {
  double first = 0, second = 0;
};
struct Part {
  std::string name;
  bool done = false;
};
struct Whole {
  std::uint64_t count = 0;
  std::uint32_t type = TARE_BF16;
  double number = 0;
  Mood mood = Mood::kGood;
  Pair pair;
  std::vector<Part> parts;
  std::optional<Part> perhaps;
  std::vector<std::uint32_t> later;
};

template <typename Visitor>
void visit_fields(Visitor& visit, Is<Part> auto& part) {
  visit("name", part.name);
  visit("done", part.done);
}
template <typename Visitor>
void visit_fields(Visitor& visit, Is<Whole> auto& whole) {
  visit("count", whole.count);
  visit.element_type("type", whole.type);
  visit("number", whole.number);
  visit("mood", whole.mood);
  visit("pair", whole.pair);
  visit("parts", whole.parts);
  visit("perhaps", whole.perhaps);
  visit.later("later", whole.later);
}

class Encoder : public FieldEncoder<Encoder> {
 public:
  using FieldEncoder::encoded;
  static OrderedJson encoded(const Pair& pair) {
    return OrderedJson::array({encoded(pair.first), encoded(pair.second)});
  }
  template <typename T>
  void visit(const T& value) {
    visit_fields(*this, value);
  }
  static const auto& words(Mood) { return kMoods; }
};

class Decoder : public FieldDecoder<Decoder> {
 public:
  using FieldDecoder::decode;
  using FieldDecoder::FieldDecoder;
  static void decode(const JsonPlace& place, Pair& into) {
    decode(element(place, 0), into.first);
    decode(element(place, 1), into.second);
  }
  template <typename T>
  void visit(T& into) {
    visit_fields(*this, into);
  }
  static const auto& words(Mood) { return kMoods; }
};

Whole example() {
  return {18446744073709551615ULL,     TARE_GGUF_Q4_K,  -HUGE_VAL,    Mood::kBad, {1, NAN},
          {{"a", true}, {"b", false}}, Part{"c", true}, {4294967295U}};
}

constexpr const char* kExample =
    R"({"count":18446744073709551615,"type":"q4_k","number":"-inf","mood":"bad","pair":[1.0,null],)"
    R"("parts":[{"name":"a","done":true},{"name":"b","done":false}],)"
    R"("perhaps":{"name":"c","done":true},"later":[4294967295]})";

std::string complaint(const char* pointer, const Json& value) {
  Json json = Json::parse(kExample);
  json[Json::json_pointer(pointer)] = value;
  Whole whole;
  try {
    Decoder::decode(JsonPlace{json}, whole);
  } catch (const Error& error) {
    EXPECT_EQ(error.blame(), Blame::kInput);
    return error.what();
  }
  return "";
}

TEST(JsonFields, AreWrittenInTheirOrder) {
  EXPECT_EQ(Encoder::encoded(example()).dump(), kExample);
}

TEST(JsonFields, AreReadAsTheyWereWritten) {
  const Json json = Json::parse(kExample);
  Whole whole;
  Decoder::decode(JsonPlace{json}, whole);
  EXPECT_TRUE(std::isnan(whole.pair.second));
  EXPECT_EQ(Encoder::encoded(whole).dump(), kExample);
}

TEST(JsonFields, OfOlderFilesLackTheLaterOnes) {
  Json json = Json::parse(kExample);
  json.erase("later");
  Whole whole;
  Decoder::decode(JsonPlace{json}, whole);
  EXPECT_TRUE(whole.later.empty());
  json.erase("count");
  EXPECT_THROW(Decoder::decode(JsonPlace{json}, whole), Error);
}

TEST(JsonFields, TheWrongOneIsNamed) {
  EXPECT_EQ(complaint("/parts/1/name", 3), "field 'parts[1].name' is 3: it must be a text");
  EXPECT_EQ(complaint("/parts/0", nullptr), "field 'parts[0]' is null: it must be an object");
  EXPECT_EQ(complaint("/perhaps", Json::object()), "field 'perhaps.name' is missing");
  EXPECT_EQ(complaint("/mood", "mixed"),
            "field 'mood' is \"mixed\": it must be one of \"good\", \"bad\"");
  EXPECT_EQ(complaint("/type", "q99"),
            "field 'type' is \"q99\": it must be an element type, such as \"bf16\" or \"q4_k\"");
  EXPECT_EQ(complaint("/later", 1), "field 'later' is 1: it must be a list");
}

}  // namespace
}  // namespace tare::records
