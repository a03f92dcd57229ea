// Merging and comparing plans.
#include "plan/combine.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/plan/fixture.h"

namespace tare::plan {
namespace {

using judge::Decision;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Merge, HasTheDecisionsOfAll) {
  Plan other = fixture::plan();
  for (auto& decision : other.decisions) decision.problem.k = 4096;
  EXPECT_EQ(merged({fixture::plan(), other}).decisions.size(), 4u);
  EXPECT_EQ(merged({fixture::plan()}).decisions.size(), 2u);
}

TEST(Merge, NeverServesWhatOneOfThemDoesNot) {
  Plan careful = fixture::plan();
  careful.decisions[0].decision = Decision::kTrade;
  for (const auto& order : {std::vector{fixture::plan(), careful}, {careful, fixture::plan()}}) {
    const Plan both = merged(order);
    ASSERT_EQ(both.decisions.size(), 2u);
    EXPECT_EQ(both.decisions[0].decision, Decision::kTrade);
  }
  careful.decisions[0].decision = Decision::kKeep;
  EXPECT_EQ(merged({fixture::plan(), careful}).decisions[0].decision, Decision::kKeep);
}

TEST(Merge, ARefusalGivesWayToAVerdict) {
  Plan refused = fixture::plan();
  refused.decisions[0].decision = Decision::kKeep;
  refused.decisions[0].verdict = judge::Verdict::kRefused;
  for (const auto& order : {std::vector{fixture::plan(), refused}, {refused, fixture::plan()}})
    EXPECT_EQ(merged(order).decisions[0].decision, Decision::kServe);
}

TEST(Merge, RefusesOtherMachinesAndBuilds) {
  Plan other = fixture::plan();
  other.keys.threads = 4;
  EXPECT_THROW(merged({fixture::plan(), other}), Error);
  other = fixture::plan();
  other.keys.modules[0].digest = "another";
  EXPECT_THROW(merged({fixture::plan(), other}), Error);
  EXPECT_THROW(merged({}), Error);
}

TEST(Merge, OfDifferentLibrariesOfOneMachineKeepsBoth) {
  Plan other = fixture::plan();
  other.keys.modules[0] = {"ggml", "ggml 0.25.3", "1"};
  EXPECT_EQ(merged({fixture::plan(), other}).keys.modules.size(), 3u);
}

TEST(Diff, SaysNothingOfEqualPlans) {
  EXPECT_THAT(differences(fixture::plan(), fixture::plan()), IsEmpty());
}

TEST(Diff, NamesWhatComesGoesAndChanges) {
  Plan after = fixture::plan();
  after.decisions[0].decision = Decision::kKeep;
  after.decisions[1].problem.k = 4096;
  EXPECT_THAT(differences(fixture::plan(), after),
              ElementsAre(AllOf(HasSubstr("1536x1536 bf16, 1 row"), HasSubstr("serve"),
                                HasSubstr("-> keep")),
                          HasSubstr("4096x1536 bf16, 8 rows: new, keep"),
                          HasSubstr("1536x1536 bf16, 8 rows: gone, was keep")));
}

TEST(Diff, TellsOfARatioOnlyWhenTheIntervalsAreApart) {
  Plan after = fixture::plan();
  auto& decision = after.decisions[0];
  decision.ratio *= 1.001;
  EXPECT_THAT(differences(fixture::plan(), after), IsEmpty());
  decision.ratio = 2;
  decision.interval = {1.9, 2.1};
  EXPECT_THAT(differences(fixture::plan(), after), ElementsAre(HasSubstr("2.000x")));
}

TEST(Diff, TellsOfKeys) {
  Plan after = fixture::plan();
  after.keys.processor = "another";
  after.keys.modules[0].title = "oneDNN 3";
  EXPECT_THAT(
      differences(fixture::plan(), after),
      ElementsAre(HasSubstr("processor: AMD EPYC 9R14 -> another"), HasSubstr("oneDNN 2.6.3")));
}

}  // namespace
}  // namespace tare::plan
