#include "report/names.h"

#include <gtest/gtest.h>

namespace tare::report {
namespace {

TEST(Names, RolesAreCalledAsEverywhereElse) {
  for (const auto& [role, word] : kRoles) EXPECT_EQ(word, weigh::to_string(role));
}

TEST(Names, AValueWithoutAWordHasNone) {
  EXPECT_EQ(word_for(kElementTypes, std::uint32_t{TARE_F32}), "f32");
  EXPECT_EQ(word_for(kElementTypes, std::uint32_t{99}), "");
}

}  // namespace
}  // namespace tare::report
