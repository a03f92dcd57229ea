#include "device/memory.h"

#include <gtest/gtest.h>

namespace tare::device {
namespace {

TEST(Memory, ParsesMeminfo) {
  const MemoryInfo info = parse_meminfo(
      "MemTotal:       24684084 kB\nMemFree:        24312528 kB\nMemAvailable:   24299952 kB\n"
      "Buffers:            2112 kB\nCached:           155188 kB\n");
  EXPECT_EQ(info.total_bytes, 24684084ull * 1024);
  EXPECT_EQ(info.available_bytes, 24299952ull * 1024);
}

TEST(Memory, OldKernelsDoNotSayWhatIsAvailable) {
  const MemoryInfo info = parse_meminfo("MemTotal: 1000 kB\nMemFree: 100 kB\nCached: 300 kB\n");
  EXPECT_EQ(info.available_bytes, 400ull * 1024);
}

TEST(Memory, NothingFromNothing) {
  EXPECT_EQ(parse_meminfo("").total_bytes, 0u);
  EXPECT_EQ(parse_meminfo("MemTotal:\nMemTotal: lots kB\n").total_bytes, 0u);
}

TEST(Memory, TheWordInBrackets) {
  EXPECT_EQ(chosen_word("always [madvise] never\n"), "madvise");
  EXPECT_EQ(chosen_word("always madvise [never]\n"), "never");
  EXPECT_EQ(chosen_word(""), "");
  EXPECT_EQ(chosen_word("[never"), "");
}

TEST(Memory, ThisMachineHasSome) {
  const MemoryInfo info = memory_info();
  EXPECT_GT(info.total_bytes, 0u);
  EXPECT_LE(info.available_bytes, info.total_bytes);
}

}  // namespace
}  // namespace tare::device
