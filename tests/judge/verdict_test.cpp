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
  EXPECT_STREQ(to_string(Bound::kMemory), "memory");
  EXPECT_STREQ(to_string(Bound::kCompute), "compute");
}

}  // namespace
}  // namespace tare::judge
