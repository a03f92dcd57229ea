#include "device/pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace tare::device {
namespace {

// Two mappings of 4 MiB, next to each other: the first half on huge pages, the second wholly.
constexpr const char* kSmaps =
    "10000000-10400000 rw-p 00000000 00:00 0 \n"
    "Size:               4096 kB\nRss:                4096 kB\nAnonymous:          4096 kB\n"
    "AnonHugePages:      2048 kB\nShmemPmdMapped:        0 kB\nTHPeligible:           1\n"
    "VmFlags: rd wr mr mw me ac hg \n"
    "10400000-10800000 rw-s 00000000 00:01 17 /dev/shm/x (deleted)\n"
    "Size:               4096 kB\nRss:                4096 kB\nAnonHugePages:         0 kB\n"
    "ShmemPmdMapped:     4096 kB\nVmFlags: rd wr sh mr mw \n";

TEST(Pages, ShareOfOneMapping) {
  EXPECT_DOUBLE_EQ(huge_page_share(kSmaps, 0x10000000, 0x10400000), 0.5);
  EXPECT_DOUBLE_EQ(huge_page_share(kSmaps, 0x10400000, 0x10800000), 1.0);
}

TEST(Pages, ShareAcrossMappingsAndOutsideThem) {
  EXPECT_DOUBLE_EQ(huge_page_share(kSmaps, 0x10000000, 0x10800000), 0.75);
  EXPECT_DOUBLE_EQ(huge_page_share(kSmaps, 0x10600000, 0x10a00000), 0.5);
  EXPECT_DOUBLE_EQ(huge_page_share(kSmaps, 0x20000000, 0x20400000), 0.0);
}

TEST(Pages, NoRangeAndNoTextHaveNone) {
  EXPECT_EQ(huge_page_share(kSmaps, 0x10000000, 0x10000000), 0);
  EXPECT_EQ(huge_page_share("", 0, 4096), 0);
  EXPECT_EQ(huge_page_share("zz-yy rw-p\nAnonHugePages: many kB\n", 0, 4096), 0);
}

TEST(Pages, ShareOfAWholeProcess) {
  EXPECT_DOUBLE_EQ(
      process_huge_page_share("55d0-7ffc ---p 00000000 00:00 0 [rollup]\n"
                              "Rss: 9000 kB\nAnonymous: 8192 kB\nAnonHugePages: 2048 kB\n"
                              "Private_Hugetlb: 0 kB\n"),
      0.25);
  EXPECT_DOUBLE_EQ(process_huge_page_share(
                       "Anonymous: 2048 kB\nAnonHugePages: 0 kB\nPrivate_Hugetlb: 2048 kB\n"),
                   0.5);
  EXPECT_EQ(process_huge_page_share(""), 0);
  EXPECT_LE(process_huge_page_share(), 1);
}

TEST(Pages, CountsMappings) {
  const std::uint64_t before = count_mappings();
  EXPECT_GT(before, 0u);
  EXPECT_EQ(count_mappings(), before);
  // Read-only between inaccessible neighbours cannot be merged with anything.
  void* const memory = mmap(nullptr, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(static_cast<char*>(memory) + 4096, 4096, PROT_READ), 0);
  EXPECT_GT(count_mappings(), before);
  munmap(memory, 3 * 4096);
  EXPECT_EQ(count_mappings(), before);
}

TEST(Pages, FirstTouchesAreFaults) {
  constexpr std::size_t kPages = 64, kBytes = kPages * 4096;
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, kBytes, MADV_NOHUGEPAGE);
  const std::uint64_t before = page_faults();
  for (std::size_t page = 0; page < kPages; ++page)
    static_cast<volatile char*>(memory)[page * 4096] = 1;
  const std::uint64_t touched = page_faults();
  EXPECT_GE(touched - before, kPages);
  munmap(memory, kBytes);
}

TEST(Pages, SwitchesNeverGoBack) {
  const std::uint64_t before = involuntary_switches();
  EXPECT_GE(involuntary_switches(), before);
}

}  // namespace
}  // namespace tare::device
