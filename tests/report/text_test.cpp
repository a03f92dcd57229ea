#include "report/text.h"

#include <gtest/gtest.h>

namespace tare::report {
namespace {

TEST(Text, ReplacesEveryByteThatIsNotUtf8) {
  EXPECT_EQ(valid_utf8("k×n · …"), "k×n · …");
  EXPECT_EQ(valid_utf8("a\xff\xc3"), "a\uFFFD\uFFFD");
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(valid_utf8("two\nlines"), "two\nlines");
}

TEST(Text, ATerminalIsGivenNothingToObey) {
  EXPECT_EQ(printable("red \x1b[31m\r\n\ttext"), "red  [31m   text");
  EXPECT_EQ(printable(std::string_view("nul\0nul", 7)), "nul nul");
  EXPECT_EQ(printable("\u202Eevil"), " evil");  // right-to-left override
}

// Widths by Unicode's EastAsianWidth.txt (2 for W) and general category Mn (0).
TEST(Text, WidthIsInTerminalColumns) {
  EXPECT_EQ(display_width("1536×256"), 8u);
  EXPECT_EQ(display_width("モデル"), 6u);
  EXPECT_EQ(display_width("e\u0301"), 1u);
  EXPECT_EQ(display_width(""), 0u);
}

TEST(Text, ClipsToColumns) {
  EXPECT_EQ(clipped("abcdef", 6), "abcdef");
  EXPECT_EQ(clipped("abcdefg", 6), "abcde…");
  EXPECT_EQ(clipped("モデルモデル", 6), "モデ…");
}

TEST(Text, AFieldWithoutItsNulFitsIntoSuchAFieldAgain) {
  const char full[3] = {'a', 'b', 'c'};
  const char ended[4] = {'a', '\0', 'x', 'y'};
  const char wrong[5] = {'\xff', '\xff', '\xff', '\0', '\0'};
  EXPECT_EQ(field_text(full), "ab");
  EXPECT_EQ(field_text(ended), "a");
  EXPECT_EQ(field_text(wrong), "\uFFFD");  // a second one would not fit
}

}  // namespace
}  // namespace tare::report
