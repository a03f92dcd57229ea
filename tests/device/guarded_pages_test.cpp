// An access past either end is a crash; what is left of the pages beside the bytes is watched.
#include "device/guarded_pages.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace tare::device {
namespace {

class GuardedPagesOf : public testing::TestWithParam<std::size_t> {};

TEST_P(GuardedPagesOf, AreAlignedZeroedAndWritable) {
  const GuardedPages pages(GetParam());
  const auto bytes = pages.bytes();
  EXPECT_EQ(bytes.size(), GetParam());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 64, 0u);
  for (const std::byte byte : bytes) EXPECT_EQ(byte, std::byte{0});
  std::memset(bytes.data(), 7, bytes.size());
  EXPECT_TRUE(pages.margins_intact());
}

TEST_P(GuardedPagesOf, EndInACrash) {
  const GuardedPages pages(GetParam());
  const std::size_t past = (GetParam() + 63) / 64 * 64;  // less lies within the last cache line
  volatile std::byte* end = pages.bytes().data() + past;
  EXPECT_DEATH(*end = std::byte{1}, "");
  EXPECT_DEATH(static_cast<void>(*end), "");
}

TEST_P(GuardedPagesOf, StartBehindACrash) {
  const GuardedPages pages(GetParam());
  volatile std::byte* before = pages.bytes().data() - 4096;
  EXPECT_DEATH(static_cast<void>(*before), "");
}

INSTANTIATE_TEST_SUITE_P(Sizes, GuardedPagesOf, testing::Values(2, 62, 64, 4096, 4098, 70000));

TEST(GuardedPages, AByteTooManyWithinTheCacheLineShows) {
  const GuardedPages pages(62);
  std::byte* end = pages.bytes().data() + 62;
  EXPECT_EQ(*end, std::byte{0xFF});
  *end = std::byte{0};
  EXPECT_FALSE(pages.margins_intact());
}

TEST(GuardedPages, CanBeReadOnly) {
  GuardedPages pages(100);
  pages.forbid_writes();
  EXPECT_EQ(pages.bytes()[99], std::byte{0});
  EXPECT_DEATH(*static_cast<volatile std::byte*>(pages.bytes().data()) = std::byte{1}, "");
}

}  // namespace
}  // namespace tare::device
