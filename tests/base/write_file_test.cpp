#include "base/write_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "tests/device/scratch_folder.h"

namespace tare {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(ReplaceFile, HoldsTheNewestAndLeavesNothingBesideIt) {
  const device::ScratchFolder folder;
  const auto path = folder.path() / "plan.json";
  const std::string binary("a\0b\n", 4);
  EXPECT_FALSE(replace_file(path, std::string(100'000, 'x')));
  EXPECT_FALSE(replace_file(path, binary));
  EXPECT_EQ(text_of(path), binary);
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(ReplaceFile, WhoeverReadsTheOldOneGoesOnReadingIt) {
  const device::ScratchFolder folder;
  const auto path = folder.path() / "plan.json";
  EXPECT_FALSE(replace_file(path, "old"));
  std::ifstream reader(path);
  EXPECT_FALSE(replace_file(path, "new"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "old");
  EXPECT_EQ(text_of(path), "new");
}

TEST(ReplaceFile, SaysWhatIsWrongAndKeepsWhatWasThere) {
  const device::ScratchFolder folder;
  const auto error = replace_file("/nowhere/at/all", "");
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  EXPECT_STREQ(advice(error), "its folder does not exist: create it, or name another");
  std::filesystem::create_directory(folder.path() / "a folder");
  EXPECT_EQ(replace_file(folder.path() / "a folder", "text"), std::errc::is_a_directory);
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(WriteAll, SaysThatTheDiskIsFull) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (full < 0) GTEST_SKIP() << "no /dev/full here";
  const auto error = write_all(full, "text");
  ::close(full);
  EXPECT_EQ(error, std::errc::no_space_on_device);
  EXPECT_STREQ(advice(error), "make room, or name a file on another disk");
}

}  // namespace
}  // namespace tare
