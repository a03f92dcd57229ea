#include "problem/json_fields.h"

#include "tests/problem/files.h"

namespace tare::problem {
namespace {

TEST(JsonFields, SyntaxErrorsSayWhere) {
  expect_error([] { parse_object("{\n  \"a\": 1,\n  oops\n}", "'f'"); },
               {"'f': not JSON", "line 3, column 3"});
  expect_error([] { parse_object("{\"a\": 1", "'f'"); }, {"'f': not JSON: it ends, at byte 7"});
  expect_error([] { parse_object("", "'f'"); }, {"'f': not JSON: it ends, at byte 0"});
  expect_error([] { parse_object("{\"a\": \"\xff\xfe\"}", "'f'"); }, {"'f': not JSON", "line 1"});
  expect_error([] { parse_object("{\"a\": 1e999}", "'f'"); }, {"'f': not JSON", "too large"});
  expect_error([] { parse_object("{} {}", "'f'"); }, {"'f': not JSON", "column 4"});
}

TEST(JsonFields, OtherValuesThanObjectsAreNamed) {
  expect_error([] { parse_object("[1]", "'f'"); },
               {"'f': must be a JSON object, {...}, not a JSON array"});
  expect_error([] { parse_object("null", "'f'"); }, {"not a JSON null"});
}

TEST(JsonFields, DeepNestingIsAnErrorAndNoCrash) {
  const std::string open(100'000, '[');
  expect_error([&] { parse_object(open, "'f'"); }, {"it ends, at byte 100000"});
  expect_error([&] { parse_object(open + std::string(100'000, ']'), "'f'"); },
               {"not a JSON array"});
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  expect_error([&] { parse_object(objects, "'f'"); }, {"it ends"});
}

TEST(JsonFields, ValuesAndAbsence) {
  const nlohmann::json object =
      parse_object(R"({"n":3,"z":0,"s":"x","b":true,"nil":null,"o":{"n":5}})", "'f'");
  const Fields fields(object, "'f'");
  EXPECT_EQ(fields.whole("n", 3), 3u);
  EXPECT_EQ(fields.count_if_any("z", 9), 0u);
  EXPECT_EQ(fields.text_if_any("s"), "x");
  EXPECT_EQ(fields.flag_if_any("b"), true);
  EXPECT_EQ(fields.object_if_any("o")->whole("n", 9), 5u);
  EXPECT_FALSE(fields.has("nil"));
  EXPECT_FALSE(fields.whole_if_any("absent", 9).has_value());
  expect_error([&] { fields.whole("nil", 9); }, {"'f': field 'nil' is missing"});
  expect_error([&] { fields.whole("n", 2); }, {"from 1 to 2, not 3"});
  expect_error([&] { fields.whole("z", 2); }, {"from 1 to 2, not 0"});
  expect_error([&] { fields.text_if_any("n"); }, {"'n' must be a string, not 3"});
}

}  // namespace
}  // namespace tare::problem
