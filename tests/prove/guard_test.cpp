#include "prove/guard.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "prove/compare.h"

namespace tare::prove {
namespace {

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};

// An area of its own, with the guards written.
class GuardTest : public testing::Test {
 protected:
  GuardedArea layout_{{6, 64, 2}};  // outputs of 3, 32 and 1 elements
  std::unique_ptr<std::byte, Free> memory_{
      static_cast<std::byte*>(std::aligned_alloc(64, layout_.total_bytes()))};
  std::span<std::byte> area_{memory_.get(), layout_.total_bytes()};

  void SetUp() override { layout_.write_guards(area_); }
  void poison_output(std::size_t output, int which) {
    const std::span<std::byte> bytes = layout_.output(area_, output);
    poison(Elements(TARE_BF16, bytes.data(), bytes.size() / sizeof(Bf16)), which);
  }
};

TEST_F(GuardTest, LaysOutputsApart) {
  ASSERT_EQ(layout_.outputs(), 3U);
  std::size_t end = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(layout_.offset(i) % 64, 0U);
    EXPECT_GE(layout_.offset(i), end + 64) << "a guard of 64 bytes at least before output " << i;
    end = layout_.offset(i) + layout_.output(area_, i).size_bytes();
  }
  EXPECT_GE(layout_.total_bytes(), end + 4096);
  EXPECT_EQ(layout_.output(area_, 1).size(), 64U);
}

TEST_F(GuardTest, WritingTheOutputsIsAllowed) {
  for (std::size_t i = 0; i < 3; ++i) poison_output(i, 1);
  EXPECT_FALSE(layout_.check_guards(area_).has_value());
}

TEST_F(GuardTest, EveryByteOutsideIsWatched) {
  poison_output(0, 0);
  poison_output(1, 0);
  poison_output(2, 0);
  std::size_t inside = 0;
  const std::size_t dense =
      layout_.offset(2) + 2 + 64;  // the long zone after that: every 61st byte
  for (std::size_t i = 0; i < area_.size(); i += i < dense ? 1 : 61) {
    area_[i] ^= std::byte{1};
    if (!layout_.check_guards(area_).has_value()) ++inside;
    area_[i] ^= std::byte{1};
  }
  EXPECT_EQ(inside, 6U + 64U + 2U) << "only the outputs' own bytes";
}

TEST_F(GuardTest, SaysWhereAndHowFar) {
  std::byte* end = area_.data() + layout_.offset(0) + 6;
  for (int i = 0; i < 32; ++i) end[i] ^= std::byte{0x5A};
  const std::optional<Breach> breach = layout_.check_guards(area_);
  ASSERT_TRUE(breach.has_value());
  EXPECT_EQ(breach->output, 0U);
  EXPECT_FALSE(breach->before);
  EXPECT_EQ(breach->distance, 0U);
  EXPECT_EQ(breach->bytes, 32U);
  EXPECT_EQ(to_string(*breach),
            "wrote 32 bytes outside its outputs, nearest 0 bytes past the end of output 0");
}

TEST_F(GuardTest, SeesAWriteOnePagePastTheLastOutput) {
  area_[layout_.offset(2) + 2 + 4096] ^= std::byte{0xFF};
  const std::optional<Breach> breach = layout_.check_guards(area_);
  ASSERT_TRUE(breach.has_value());
  EXPECT_EQ(breach->output, 2U);
  EXPECT_EQ(breach->distance, 4096U);
}

TEST_F(GuardTest, SeesAWriteBeforeTheFirstOutput) {
  area_[layout_.offset(0) - 2] ^= std::byte{1};
  const std::optional<Breach> breach = layout_.check_guards(area_);
  ASSERT_TRUE(breach.has_value());
  EXPECT_TRUE(breach->before);
  EXPECT_EQ(breach->distance, 1U);
}

TEST_F(GuardTest, ZerosAndCopiedGuardsShow) {
  std::memset(area_.data() + layout_.offset(1) + 64, 0, 16);
  EXPECT_TRUE(layout_.check_guards(area_).has_value());
  layout_.write_guards(area_);
  std::memcpy(area_.data() + layout_.offset(1) + 64, area_.data(), 16);
  EXPECT_TRUE(layout_.check_guards(area_).has_value());
  layout_.write_guards(area_);
  EXPECT_FALSE(layout_.check_guards(area_).has_value());
}

TEST_F(GuardTest, RefusesAnAreaThatIsTooSmallOrNotAligned) {
  EXPECT_THROW(layout_.write_guards(area_.first(area_.size() - 1)), Error);
  EXPECT_THROW(GuardedArea({2}).write_guards(area_.subspan(2)), Error);
}

TEST(Guard, AnAreaOfNoOutputsIsAllGuard) {
  const GuardedArea layout{{}};
  std::unique_ptr<std::byte, Free> memory(
      static_cast<std::byte*>(std::aligned_alloc(64, layout.total_bytes())));
  const std::span<std::byte> area{memory.get(), layout.total_bytes()};
  layout.write_guards(area);
  EXPECT_FALSE(layout.check_guards(area).has_value());
}

}  // namespace
}  // namespace tare::prove
