// Two arms compared block by block.
#pragma once

#include <cstdint>
#include <vector>

#include "judge/blocks.h"
#include "judge/judge.h"

namespace tare::judge {

// log(time of `above` / time of `below`) in every block that says something, in order. Times are
// per dispatch and free of the cost per region when both arms have two lengths, else both include
// it. Each value is shifted by a dither, drawn from `seed`, of at most half a timer step: exact
// ties, which would all fall on one side, become fair coins. Where noise made one time negative the
// value is an infinity: the comparison a > m * b still has a sign, the same for every m > 0. Where
// it made both negative the block is left out; whether that happens does not depend on which arm is
// which, so leaving it out favours neither.
std::vector<double> log_ratios(const Blocks& blocks, weigh::Role above, weigh::Role below,
                               std::uint64_t seed);

// The ratio of two arms' times.
struct Comparison {
  double ratio = 0;           // median over blocks, inside `interval`; 0: not known
  Interval interval;          // at Rules::alpha; [0, infinity] before it can exclude anything
  Interval verdict_interval;  // at Rules::verdict_alpha: holds `interval`
  bool moved = false;         // no constant ratio fits the whole weighing (at verdict_alpha)
};
Comparison compare(const std::vector<double>& log_ratios, const Rules& rules);

// The same comparison, less certain by |log(ratio of the control)| on both sides, when the
// control's interval says that its ratio is not 1: two preparations of one arm differ by that much
// on this machine, so that much of any other difference may be luck of placement.
Comparison widened_by(const Comparison& control, Comparison comparison);

// Whether every value of `interval` lies within 1 - share and 1 + share.
bool within(const Interval& interval, double share);

}  // namespace tare::judge
