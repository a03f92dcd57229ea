#include "judge/course.h"

#include <gtest/gtest.h>

#include <cmath>

#include "judge/evidence.h"
#include "tests/judge/synthetic.h"

namespace tare::judge {
namespace {

const double kEnough = std::log(100.0);  // of Rules::verdict_alpha = 1 %

weigh::Weighing weighing(double ratio, std::uint32_t blocks) {
  testing::Plan plan;
  plan.candidate_ratio = ratio;
  plan.blocks = blocks;
  return testing::weigh_synthetic(plan);
}

TEST(Course, LooksAtDoublingBlocksAndAtTheLast) {
  const Course course = course_of(weighing(1.3, 20), {});
  std::vector<std::size_t> blocks;
  for (const Course::Look& look : course.looks) {
    blocks.push_back(look.blocks);
    EXPECT_EQ(look.rounds, 5 * look.blocks);
  }
  EXPECT_EQ(blocks, (std::vector<std::size_t>{1, 2, 4, 8, 16, 20}));
}

TEST(Course, EvidenceNeverFalls) {
  double before = -1;
  for (const Course::Look& look : course_of(weighing(1.1, 30), {}).looks) {
    EXPECT_GE(look.log_evidence, before);
    before = look.log_evidence;
  }
}

// The first prefix of whole blocks whose own verdict is the one of the whole placement.
TEST(Course, IsDecidedWhenThePrefixIs) {
  for (const double ratio : {1.3, 0.8}) {
    const weigh::Weighing whole = weighing(ratio, 30);
    const Course course = course_of(whole, {});
    EXPECT_EQ(course.verdict, ratio > 1 ? Verdict::kWin : Verdict::kLoss);
    ASSERT_GT(course.decided_after, 0u);
    const auto blocks = static_cast<std::uint32_t>(course.decided_after / 5);
    EXPECT_EQ(gather(testing::prefix(whole, blocks), {}).candidate.verdict, course.verdict);
    EXPECT_EQ(gather(testing::prefix(whole, blocks - 1), {}).candidate.verdict,
              Verdict::kInconclusive);
  }
}

TEST(Course, EquivalenceNeedsBothSides) {
  testing::Plan plan;
  plan.noise = testing::kQuiet;
  plan.noise.jitter = 0.005;
  plan.blocks = 60;
  const Course course = course_of(testing::weigh_synthetic(plan), {});
  EXPECT_EQ(course.verdict, Verdict::kEquivalent);
  EXPECT_GE(course.looks.back().log_evidence, kEnough);
  EXPECT_GT(course.decided_after, 0u);
}

TEST(Course, EqualArmsInNoiseAreNeverDecidedAtOnce) {
  const Course course = course_of(weighing(1, 10), {});
  EXPECT_EQ(course.verdict, Verdict::kInconclusive);
  EXPECT_EQ(course.decided_after, 0u);
  EXPECT_LT(course.looks.back().log_evidence, kEnough);
}

TEST(Course, AControlThatDiffersIsADoubt) {
  testing::Plan plan;
  plan.control_ratio = 1.1;
  plan.blocks = 60;
  plan.noise = testing::kQuiet;
  plan.noise.jitter = 0.005;
  const Course course = course_of(testing::weigh_synthetic(plan), {});
  EXPECT_NEAR(course.doubt, 1.1, 0.01);
  EXPECT_EQ(course_of(weighing(1.3, 20), {}).doubt, 1);
}

TEST(Course, NothingIsKnownWithoutBlocks) {
  weigh::Weighing empty = weighing(1.3, 4);
  empty.regions.clear();
  const Course course = course_of(empty, {});
  EXPECT_TRUE(course.looks.empty());
  EXPECT_EQ(course.decided_after, 0u);
}

}  // namespace
}  // namespace tare::judge
