#include "device/text_file.h"

#include <gtest/gtest.h>

#include "scratch_folder.h"

namespace tare::device {
namespace {

TEST(TextFile, AMissingFileIsNothingAndAnEmptyWord) {
  EXPECT_FALSE(read_text("/nowhere/at/all").has_value());
  EXPECT_EQ(read_word("/nowhere/at/all"), "");
}

TEST(TextFile, AFolderIsNothing) {
  EXPECT_FALSE(read_text("/").has_value());
}

TEST(TextFile, ReadsAWordWithoutItsLineEnd) {
  ScratchFolder folder;
  folder.write("governor", "performance\n");
  EXPECT_EQ(read_word(folder.path() / "governor"), "performance");
}

TEST(TextFile, NumbersAreWholeOrNothing) {
  EXPECT_EQ(parse_number("0"), 0u);
  EXPECT_EQ(parse_number("18446744073709551615"), UINT64_MAX);
  for (const char* bad : {"", "-1", "max", "12K", "18446744073709551616", " 1"})
    EXPECT_FALSE(parse_number(bad).has_value()) << bad;
}

TEST(TextFile, SizesOfSysfs) {
  EXPECT_EQ(parse_size("48K\n"), 48u << 10);
  EXPECT_EQ(parse_size("266240K"), 266240ull << 10);
  EXPECT_EQ(parse_size("32M"), 32u << 20);
  EXPECT_EQ(parse_size("512"), 512u);
  for (const char* bad : {"", "K", "-1K", "99999999999999999999K", "18446744073709551615G"})
    EXPECT_FALSE(parse_size(bad).has_value()) << bad;
}

TEST(TextFile, ProcessorLists) {
  EXPECT_EQ(parse_processor_list("0-3,8\n"), (std::vector<unsigned>{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_processor_list("5"), (std::vector<unsigned>{5}));
  EXPECT_TRUE(parse_processor_list("").empty());
  EXPECT_EQ(parse_processor_list("x,2-,3-1,7"), (std::vector<unsigned>{7}));
  EXPECT_TRUE(parse_processor_list("0-4000000000").empty());
}

}  // namespace
}  // namespace tare::device
