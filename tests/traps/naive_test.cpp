// The naive harness believes what it is told, but it must be told right: an honest arm passes its
// check, and what a liar hides is visible to one who looks.
#include "traps/naive.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "traps/trap.h"

namespace tare::traps {
namespace {

std::string arm(const std::string& name) {
  return std::string(TARE_TRAP_ARMS) + "/" + name + ".so";
}

NaivePlan small() {
  NaivePlan plan;
  plan.k = 96;
  plan.n = 40;
  plan.rows = 3;
  plan.copies = 2;
  plan.samples = 5;
  plan.check = close_enough;
  return plan;
}

TEST(Naive, AnHonestArmPasses) {
  const auto results = run_naively(small(), {arm("honest"), arm("honest")});
  ASSERT_EQ(results.size(), 2U);
  for (const NaiveResult& result : results) {
    EXPECT_EQ(result.died, "");
    EXPECT_TRUE(result.passed);
    EXPECT_EQ(result.seconds.size(), 5U);
    EXPECT_GE(result.mean(), result.least());
  }
}

TEST(Naive, AWrongArmFailsACheckThatLooks) {
  EXPECT_FALSE(run_naively(small(), {arm("half_the_sum")}).front().passed);
}

TEST(Naive, ARightAnswerLeftBehindPassesForAResult) {
  NaivePlan plan = small();
  plan.copies = 1;
  EXPECT_FALSE(run_naively(plan, {arm("never_writes")}).front().passed);
  plan.right_answer_left_in_y = true;
  EXPECT_TRUE(run_naively(plan, {arm("never_writes")}).front().passed);
}

TEST(Naive, ZeroWeightsGiveZeros) {
  NaivePlan plan = small();
  plan.zero_weights = true;
  EXPECT_TRUE(run_naively(plan, {arm("wrong_zeros")}).front().passed);
}

TEST(Naive, WhoDiesDiesAlone) {
  const auto results = run_naively(small(), {arm("honest"), arm("is_not_there")});
  EXPECT_EQ(results[0].died, "");
  EXPECT_EQ(results[1].died, "ended with code 1");
}

TEST(Catalogue, NamesAreUniqueAndFound) {
  std::set<std::string> names;
  for (const Trap* trap : catalogue()) {
    EXPECT_TRUE(names.insert(trap->name).second) << trap->name;
    EXPECT_EQ(find(trap->name), trap);
  }
  EXPECT_EQ(find("T4"), find("warm-weights"));
  EXPECT_EQ(find("T99"), nullptr);
  EXPECT_EQ(find("C10"), nullptr) << "two traps have that id";
}

}  // namespace
}  // namespace tare::traps
