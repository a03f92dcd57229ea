#include "weigh/stage.h"

#include <algorithm>

#include "fixture.h"

namespace tare::weigh {
namespace {

using StageTest = WeighTest;

TEST_F(StageTest, HoldsInputsAndOutputsOfTheProblem) {
  EXPECT_EQ(stage_.input(0).size(), kSmall.rows * kSmall.k);
  EXPECT_EQ(stage_.output(0).size(), kSmall.rows * kSmall.n);
  EXPECT_GT(stage_.outputs(), 1u);
}

TEST_F(StageTest, SlotsNextToEachOtherHaveOtherInputs) {
  EXPECT_NE(prove::ElementBuffer(stage_.input(0)), prove::ElementBuffer(stage_.input(1)));
}

TEST_F(StageTest, AnotherSeedGivesOtherInputs) {
  const prove::ElementBuffer before(stage_.input(0));
  stage_.set_problem(kSmall, kSeed + 1);
  EXPECT_NE(prove::ElementBuffer(stage_.input(0)), before);
}

TEST_F(StageTest, SpoilsEveryOutput) {
  for (std::uint32_t i = 0; i < stage_.outputs(); ++i)
    std::ranges::fill(stage_.output(i).as_bf16(), prove::Bf16{0});
  const std::uint64_t untouched = prove::digest(stage_.output(0));
  stage_.spoil_outputs();
  for (std::uint32_t i = 0; i < stage_.outputs(); ++i)
    EXPECT_NE(prove::digest(stage_.output(i)), untouched);
}

TEST_F(StageTest, SeesAWritePastAnOutput) {
  EXPECT_FALSE(stage_.take_breach());
  stage_.output(1).data()[stage_.output(1).size_bytes()] = std::byte{1};
  EXPECT_TRUE(stage_.take_breach());
  EXPECT_FALSE(stage_.take_breach()) << "told once";
}

}  // namespace
}  // namespace tare::weigh
