#include "judge/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tare::judge {
namespace {

TEST(Verdict, OnlyAWinWithEqualBitsIsServed) {
  for (const Bits bits : {Bits::kEqual, Bits::kDiffer, Bits::kUnknown})
    for (const Verdict verdict :
         {Verdict::kLoss, Verdict::kEquivalent, Verdict::kInconclusive, Verdict::kRefused})
      EXPECT_EQ(decision_of(verdict, bits), Decision::kKeep);
  EXPECT_EQ(decision_of(Verdict::kWin, Bits::kEqual), Decision::kServe);
  EXPECT_EQ(decision_of(Verdict::kWin, Bits::kDiffer), Decision::kTrade);
  EXPECT_EQ(decision_of(Verdict::kWin, Bits::kUnknown), Decision::kKeep);
}

TEST(Verdict, BitsAreUnknownUntilProved) {
  weigh::Proof proof;
  proof.elements = 10;
  EXPECT_EQ(bits_of(proof), Bits::kUnknown);
  proof.done = true;
  EXPECT_EQ(bits_of(proof), Bits::kEqual);
  proof.differing = 1;
  EXPECT_EQ(bits_of(proof), Bits::kDiffer);
  proof.elements = 0;
  EXPECT_EQ(bits_of(proof), Bits::kUnknown);
}

weigh::Proof proof_of_rows(weigh::Role against, std::uint64_t elements) {
  weigh::Proof proof;
  proof.done = true;
  proof.elements = 10;
  proof.differing = 3;  // from the incumbent's at this shape: not what is asked here
  proof.rows.against = against;
  proof.rows.elements = elements;
  return proof;
}

TEST(Verdict, RowsAreEqualWhenNothingBesideThemChangesThem) {
  const auto own = proof_of_rows(weigh::Role::kCandidate, 100);
  EXPECT_EQ(equality_of(own, Equality::kSelf), Bits::kEqual);
  EXPECT_EQ(equality_of(own, Equality::kOneRow), Bits::kUnknown) << "held against another arm";
  EXPECT_EQ(equality_of(own, Equality::kIncumbent), Bits::kDiffer);
  const auto other = proof_of_rows(weigh::Role::kIncumbent, 100);
  EXPECT_EQ(equality_of(other, Equality::kOneRow), Bits::kEqual);
  EXPECT_EQ(equality_of(other, Equality::kSelf), Bits::kUnknown);
  for (auto member : {&weigh::RowProof::by_count, &weigh::RowProof::by_position,
                      &weigh::RowProof::by_neighbours}) {
    weigh::Proof broken = own;
    broken.rows.*member = 1;
    EXPECT_EQ(equality_of(broken, Equality::kSelf), Bits::kDiffer);
  }
  EXPECT_EQ(equality_of(proof_of_rows(weigh::Role::kCandidate, 0), Equality::kSelf),
            Bits::kUnknown);
}

TEST(Verdict, ABoundedErrorIsTheIncumbentsButForTheDraw) {
  weigh::Proof proof;
  EXPECT_EQ(equality_of(proof, Equality::kBounded), Bits::kUnknown);
  proof.done = true;
  proof.oracle_elements = 10'000;
  proof.incumbent_error_max = proof.candidate_error_max = 0.5;
  proof.incumbent_error_rms = proof.candidate_error_rms = 0.29;
  EXPECT_EQ(equality_of(proof, Equality::kBounded), Bits::kEqual);
  // 3 / sqrt(10,000) is 3 %.
  proof.candidate_error_rms = 0.29 * 1.029;
  EXPECT_EQ(equality_of(proof, Equality::kBounded), Bits::kEqual);
  proof.candidate_error_rms = 0.29 * 1.031;
  EXPECT_EQ(equality_of(proof, Equality::kBounded), Bits::kDiffer);
  proof.candidate_error_rms = 0.29;
  proof.candidate_error_max = 0.63;
  EXPECT_EQ(equality_of(proof, Equality::kBounded), Bits::kDiffer);
  proof.incumbent_error_max = 0.6;
  EXPECT_EQ(equality_of(proof, Equality::kBounded), Bits::kEqual);
  proof.candidate_error_rms = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(equality_of(proof, Equality::kBounded), Bits::kDiffer);
  proof.candidate_error_rms = 0.29;
  proof.class_mismatch = 1;
  EXPECT_EQ(equality_of(proof, Equality::kBounded), Bits::kDiffer);
}

TEST(Verdict, BreakEven) {
  EXPECT_EQ(break_even(1.0, 0.5, 2e-3, 1e-3), 0);  // cheaper to prepare
  EXPECT_EQ(break_even(1.0, 1.0, 1e-3, 2e-3), 0);  // equally dear
  EXPECT_DOUBLE_EQ(break_even(1.0, 3.0, 2e-3, 1e-3), 2000);
  EXPECT_TRUE(std::isinf(break_even(1.0, 3.0, 1e-3, 1e-3)));
  EXPECT_TRUE(std::isinf(break_even(1.0, 3.0, 1e-3, 2e-3)));
}

TEST(Verdict, Words) {
  EXPECT_STREQ(to_string(Verdict::kWin), "win");
  EXPECT_STREQ(to_string(Verdict::kLoss), "loss");
  EXPECT_STREQ(to_string(Verdict::kEquivalent), "equivalent");
  EXPECT_STREQ(to_string(Verdict::kInconclusive), "inconclusive");
  EXPECT_STREQ(to_string(Verdict::kRefused), "refused");
  EXPECT_STREQ(to_string(Decision::kServe), "serve");
  EXPECT_STREQ(to_string(Decision::kKeep), "keep");
  EXPECT_STREQ(to_string(Decision::kTrade), "trade");
  EXPECT_STREQ(to_string(Bits::kEqual), "equal");
  EXPECT_STREQ(to_string(Bits::kDiffer), "differ");
  EXPECT_STREQ(to_string(Bits::kUnknown), "unknown");
  EXPECT_STREQ(to_string(Equality::kIncumbent), "incumbent");
  EXPECT_STREQ(to_string(Equality::kOneRow), "one-row");
  EXPECT_STREQ(to_string(Equality::kSelf), "self");
  EXPECT_STREQ(to_string(Equality::kBounded), "bounded");
  EXPECT_STREQ(to_string(Bound::kMemory), "memory");
  EXPECT_STREQ(to_string(Bound::kCompute), "compute");
}

}  // namespace
}  // namespace tare::judge
