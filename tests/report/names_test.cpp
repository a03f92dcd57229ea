#include "report/names.h"

#include <gtest/gtest.h>

namespace tare::report {
namespace {

TEST(Names, RolesAreCalledAsEverywhereElse) {
  for (const auto& [role, word] : kRoles) EXPECT_EQ(word, weigh::to_string(role));
}

TEST(Names, AValueWithoutAWordHasNone) {}

}  // namespace
}  // namespace tare::report
