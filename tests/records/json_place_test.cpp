#include "records/json_place.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace tare::records {
namespace {

template <typename T>
std::string complaint(const Json& value) {
  T into{};
  try {
    read(JsonPlace{value}, into);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(JsonPlace, WholeNumbersAreThoseOfTheirType) {
  EXPECT_EQ(complaint<std::uint32_t>(4294967295U), "");
  EXPECT_EQ(complaint<std::uint32_t>(4294967296U),
            "it is 4294967296: it must be at most 4294967295");
  EXPECT_EQ(complaint<std::uint64_t>(18446744073709551615ULL), "");
  EXPECT_EQ(complaint<std::uint64_t>(7), "");  // signed, as a Json that was not parsed holds it
  for (const Json& value : {Json(-1), Json(1.0), Json(1e300), Json("1"), Json(true), Json()})
    EXPECT_NE(complaint<std::uint64_t>(value), "") << value;
}

TEST(JsonPlace, NumbersGoThroughText) {
  constexpr double kMost = std::numeric_limits<double>::max();
  for (const double value : {0.0, -0.0, 0.1, -kMost, 5e-324, HUGE_VAL, -HUGE_VAL}) {
    const Json json = Json::parse(written_number(value).dump());
    double read_back = 0;
    read(JsonPlace{json}, read_back);
    EXPECT_EQ(read_back, value);
  }
  EXPECT_EQ(complaint<double>("infinite"),
            "it is \"infinite\": it must be a number, null (not a number), \"inf\" or \"-inf\"");
}

TEST(JsonPlace, WhatAFileHoldsIsShownShort) {
  EXPECT_EQ(shown(Json::array()), "a list");
  EXPECT_LT(shown(std::string(1000, 'x')).size(), 50u);
  EXPECT_EQ(shown("\xff"), "\"\\ufffd\"");
}

}  // namespace
}  // namespace tare::records
