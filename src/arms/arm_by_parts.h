// An arm that computes a projection's outputs by parts, each a dispatch of another arm, one after
// the other: how an implementation without fusion does q, k and v. Behind the same C ABI, so that
// whoever runs arms need not know.
#pragma once

#include "arms/control_page.h"
#include "tare/arm.h"

namespace tare::arms {

// What prepare() of an arm by parts is given: the C ABI has no other way to say whose parts.
struct ProblemByParts {
  tare_problem problem{};  // of all outputs; first, so that its address is that of all
  const tare_arm* base = nullptr;
  Parts parts{};
};

// The table of `base` by parts; prepare() takes the `problem` of a ProblemByParts that lives as
// long as its executor. y holds the parts one behind the other, each dense: [rows, n of the part].
// Weights of the whole are bound, and taken apart; they are copied where a part's scales or biases
// do not lie behind them as the format says. prepare() refuses parts whose y would not be aligned
// to 64 bytes.
tare_arm by_parts(const tare_arm& base);

}  // namespace tare::arms
