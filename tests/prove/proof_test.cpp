#include "prove/proof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "prove/compare.h"
#include "prove/oracle.h"

namespace tare::prove {
namespace {

constexpr std::uint64_t kSeed = 12;

tare_problem small_problem() {
  return {.k = 33,
          .n = 20,
          .rows = 3,
          .weights = TARE_BF16,
          .activations = TARE_BF16,
          .output = TARE_BF16,
          .accumulator = TARE_F32,
          .bias = 0};
}

// Arms made of the oracle: exact, rounded once; lies are laid over it.
class ProofTest : public testing::Test {
 protected:
  tare_problem problem_ = small_problem();
  std::vector<Bf16> x_ = std::vector<Bf16>(2 * problem_.rows * problem_.k);  // two, in turn
  ProofPlan plan_;

  void SetUp() override {
    generate_activations(3, 0, 0, x_);
    plan_ = {.problem = problem_,
             .slots = 5,
             .most_slots = 8,
             .weight_seed = kSeed,
             .x = [this](std::uint64_t slot) { return x(slot); },
             .oracle_elements = 16,
             .draw_seed = 1};
  }

  std::span<const Bf16> x(std::uint64_t slot) const {
    const std::size_t elements = problem_.rows * problem_.k;
    return std::span(x_).subspan(slot % 2 * elements, elements);
  }

  void right(std::uint64_t slot, std::span<Bf16> into) const {
    const auto elements = draw_elements(problem_.rows, problem_.n, into.size(), 0);
    const auto truth = oracle(x(slot), {TARE_BF16, problem_.k, problem_.n, kSeed, slot}, elements);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      into[elements[i].row * problem_.n + elements[i].output] =
          to_bf16(static_cast<float>(truth[i]));
    }
  }

  ProvenArm honest() const {
    return {[this](std::uint64_t slot, int, Elements into) { right(slot, into.as_bf16()); }, {}};
  }

  ProofResult prove_candidate(RunSlot run) const {
    return prove(plan_, honest(), {std::move(run), {}});
  }
};

TEST_F(ProofTest, AnHonestCandidateIsProven) {
  const ProofResult result = prove(plan_, honest(), honest());
  EXPECT_TRUE(result.proof.done);
  EXPECT_EQ(result.proof.elements, 5U * 60);
  EXPECT_EQ(result.proof.differing, 0U);
  EXPECT_EQ(result.proof.class_mismatch, 0U);
  EXPECT_EQ(result.proof.unwritten, 0U);
  EXPECT_EQ(result.proof.candidate_non_finite, 0U);
  EXPECT_EQ(result.proof.incumbent_non_finite, 0U);
  EXPECT_FALSE(result.proof.wrote_outside);
  EXPECT_EQ(result.proof.oracle_elements, 5U * 16);
  EXPECT_GT(result.proof.candidate_error_max, 0);
  EXPECT_LE(result.proof.candidate_error_max, 0.5 + 1e-4) << "rounded through a float first";
  EXPECT_EQ(result.proof.candidate_error_rms, result.proof.incumbent_error_rms);
  EXPECT_EQ(result.details.candidate_unstable, 0U);
  EXPECT_EQ(result.details.candidate_repeats, 0U);
  EXPECT_EQ(result.details.incumbent_digests, result.details.candidate_digests);
  EXPECT_EQ(result.details.slots, (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
}

TEST_F(ProofTest, OneWrongElementOfOneSlotIsFound) {
  const ProofResult result = prove_candidate([this](std::uint64_t slot, int, Elements elements) {
    const std::span<Bf16> into = elements.as_bf16();
    right(slot, into);
    if (slot == 4) into[59] ^= 1U;
  });
  EXPECT_EQ(result.proof.differing, 1U);
  EXPECT_EQ(result.proof.max_ulp, 1U);
}

TEST_F(ProofTest, WrongInTheSecondRunOnlyIsFoundAndUnstable) {
  const ProofResult result =
      prove_candidate([this](std::uint64_t slot, int which, Elements elements) {
        const std::span<Bf16> into = elements.as_bf16();
        right(slot, into);
        if (slot == 2 && which == 1) into[7] ^= 4U;
      });
  EXPECT_EQ(result.proof.differing, 1U);
  EXPECT_EQ(result.details.candidate_unstable, 1U);
  EXPECT_EQ(result.details.incumbent_unstable, 0U);
}

TEST_F(ProofTest, WhatIsNeverWrittenIsUnwrittenAndNotNonFinite) {
  const ProofResult result = prove_candidate([this](std::uint64_t slot, int, Elements elements) {
    const std::span<Bf16> into = elements.as_bf16();
    std::vector<Bf16> all(into.size());
    right(slot, all);
    std::copy(all.begin(), all.end() - 1, into.begin());
  });
  EXPECT_EQ(result.proof.unwritten, 5U);
  EXPECT_EQ(result.proof.differing, 5U);
  EXPECT_EQ(result.proof.candidate_non_finite, 0U);
  EXPECT_EQ(result.details.candidate_unstable, 0U);
}

TEST_F(ProofTest, WrittenInOneRunOnlyIsUnstable) {
  const ProofResult result =
      prove_candidate([this](std::uint64_t slot, int which, Elements elements) {
        const std::span<Bf16> into = elements.as_bf16();
        if (which == 0) right(slot, into);
      });
  EXPECT_EQ(result.proof.unwritten, 0U);
  EXPECT_EQ(result.details.candidate_unstable, 5U * 60);
}

TEST_F(ProofTest, NansAreCountedOnEitherSide) {
  const RunSlot with_nan = [this](std::uint64_t slot, int, Elements elements) {
    const std::span<Bf16> into = elements.as_bf16();
    right(slot, into);
    into[3] = 0x7FC0;
  };
  const ProofResult candidate = prove_candidate(with_nan);
  EXPECT_EQ(candidate.proof.candidate_non_finite, 5U);
  EXPECT_EQ(candidate.proof.incumbent_non_finite, 0U);
  EXPECT_EQ(candidate.proof.class_mismatch, 5U);
  const ProofResult incumbent = prove(plan_, {with_nan, {}}, honest());
  EXPECT_EQ(incumbent.proof.candidate_non_finite, 0U);
  EXPECT_EQ(incumbent.proof.incumbent_non_finite, 5U);
}

TEST_F(ProofTest, AMemoisedResultDiffersAndRepeats) {
  const ProofResult result =
      prove_candidate([this](std::uint64_t, int, Elements into) { right(0, into.as_bf16()); });
  EXPECT_EQ(result.details.candidate_repeats, 4U);
  EXPECT_EQ(result.details.incumbent_repeats, 0U);
  EXPECT_GT(result.proof.differing, 200U);
}

TEST_F(ProofTest, ZerosHaveALargeOracleError) {
  const ProofResult result = prove_candidate([](std::uint64_t, int, Elements elements) {
    const std::span<Bf16> into = elements.as_bf16();
    std::fill(into.begin(), into.end(), Bf16{0});
  });
  EXPECT_GT(result.proof.candidate_error_max, 64);
  EXPECT_LT(result.proof.incumbent_error_max, 0.51);
}

TEST_F(ProofTest, AWriteOutsideIsKept) {
  int asked = 0;
  ProvenArm candidate = honest();
  candidate.wrote_outside = [&asked] { return ++asked == 3; };
  const ProofResult result = prove(plan_, honest(), candidate);
  EXPECT_TRUE(result.proof.wrote_outside);
  EXPECT_FALSE(result.details.incumbent_wrote_outside);
  EXPECT_EQ(asked, 10) << "after every run";
}

TEST_F(ProofTest, EachRunGetsItsPoison) {
  std::vector<int> seen;
  const ProofResult result = prove_candidate([&](std::uint64_t slot, int which, Elements elements) {
    const std::span<Bf16> into = elements.as_bf16();
    std::vector<Bf16> expected(into.size());
    poison(expected, which);
    EXPECT_TRUE(std::equal(into.begin(), into.end(), expected.begin()));
    seen.push_back(which);
    right(slot, into);
  });
  EXPECT_EQ(result.proof.differing, 0U);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 0), 5);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 5);
}

TEST_F(ProofTest, ProvesTheSlotsThatAreAskedForBesideThoseDrawn) {
  plan_.slots = 1000;
  plan_.most_slots = 2;
  plan_.also = {500, 0, 1000};  // one of them drawn anyway, one beyond the ring
  const RunSlot wrong_in_the_middle = [this](std::uint64_t slot, int, Elements elements) {
    const std::span<Bf16> into = elements.as_bf16();
    right(slot, into);
    if (slot == 500) into[0] ^= 1U;
  };
  const ProofResult result = prove_candidate(wrong_in_the_middle);
  EXPECT_EQ(result.details.slots, (std::vector<std::uint64_t>{0, 500, 999}));
  EXPECT_EQ(result.proof.differing, 1U);
  EXPECT_EQ(differing_slots(result.details.incumbent_digests, result.details.candidate_digests),
            (std::vector<std::uint64_t>{1}))
      << "the second of the three";
}

TEST_F(ProofTest, RefusesActivationsOfAnotherSize) {
  plan_.x = [this](std::uint64_t slot) { return x(slot).subspan(1); };
  EXPECT_THROW(prove(plan_, honest(), honest()), Error);
}

TEST(Add, CountsAddUpAndTheWorseErrorStays) {
  weigh::Proof sum, more;
  sum.elements = 10;
  sum.oracle_elements = 3;
  sum.candidate_error_rms = 0.2;
  sum.candidate_error_max = 0.4;
  more.elements = 5;
  more.differing = 2;
  more.oracle_elements = 1;
  more.candidate_error_rms = 1;
  more.candidate_error_max = 1;
  more.incumbent_error_max = 0.3;
  more.max_ulp = 7;
  more.wrote_outside = true;
  add(sum, more);
  EXPECT_EQ(sum.elements, 15U);
  EXPECT_EQ(sum.differing, 2U);
  EXPECT_EQ(sum.max_ulp, 7U);
  EXPECT_TRUE(sum.wrote_outside);
  EXPECT_EQ(sum.oracle_elements, 4U);
  EXPECT_DOUBLE_EQ(sum.candidate_error_rms, std::sqrt((3 * 0.04 + 1 * 1) / 4));
  EXPECT_EQ(sum.candidate_error_max, 1);
  EXPECT_EQ(sum.incumbent_error_max, 0.3);
}

TEST(DrawSlots, HoldsTheFirstAndTheLast) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const std::vector<std::uint64_t> slots = draw_slots(1000, 8, seed);
    EXPECT_EQ(slots.size(), 8U);
    EXPECT_EQ(slots.front(), 0U);
    EXPECT_EQ(slots.back(), 999U);
    EXPECT_TRUE(std::is_sorted(slots.begin(), slots.end()));
  }
  EXPECT_EQ(draw_slots(3, 8, 1), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(draw_slots(9, 1, 1), (std::vector<std::uint64_t>{0, 8})) << "two at least";
  EXPECT_EQ(draw_slots(1, 1, 1), (std::vector<std::uint64_t>{0}));
}

}  // namespace
}  // namespace tare::prove
