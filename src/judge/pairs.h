// Two arms of one placement compared.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "judge/blocks.h"
#include "judge/judge.h"
#include "judge/mix.h"

namespace tare::judge {

// log(time of `above` / time of `below`) in every block that says something, in order: what a gate
// looks at. Times are per dispatch, free of the cost per region as far as it is known. Each value
// is shifted by a dither, drawn from `seed`, of at most half a timer step: exact ties, which would
// all fall on one side, become fair coins. Where noise made one time negative the value is an
// infinity; where it made both negative the block is left out, which favours neither.
std::vector<double> log_ratios(const Blocks& blocks, const std::map<weigh::Role, Fit>& fits,
                               weigh::Role above, weigh::Role below, std::uint64_t seed);

// The rounds of incumbent, control (if it was weighed) and `arm`, as the sequential comparison
// takes them, each time dithered likewise. Empty when an arm is missing.
Mix rounds_of(const Blocks& blocks, weigh::Role arm, std::uint64_t seed);
// Of the blocks from the `first`-th to before the `last`-th alone.
Mix rounds_of(const Blocks& blocks, weigh::Role arm, std::uint64_t seed, std::size_t first,
              std::size_t last);

// Times per dispatch of a round hold a share of the cost per region: a ratio of such times,
// multiplied by this, is the ratio without. `low` and `high`: as far as the shares are known.
struct Correction {
  double factor = 1;
  double low = 1;
  double high = 1;
};
Correction correction(const Blocks& blocks, const std::map<weigh::Role, Fit>& fits,
                      weigh::Role above, weigh::Role below);
// The same, less certain by a factor of at least 1 on both sides.
Correction doubted(Correction correction, double doubt);

// The ratio of two arms' times per dispatch.
struct Comparison {
  double ratio = 0;           // estimate, inside `interval`; 0: not known
  Interval interval;          // at Rules::alpha; [0, infinity] before it can exclude anything
  Interval verdict_interval;  // at Rules::verdict_alpha: holds `interval`
  Verdict verdict = Verdict::kInconclusive;
  bool moved = false;  // no constant ratio fits the whole weighing (at verdict_alpha)
  // That the ratio is above 1: what that half of the game holds now, as the logarithm of an
  // e-value.
  double log_evidence = 0;
};
Comparison compare(const Mix& rounds, const Correction& correction, const Rules& rules);

// The most that the game ever held that the ratio is above (below) `ratio`, wherever in its bounds
// the correction lies: the logarithm of 1 / error level.
double evidence_above(const Mix& rounds, const Correction& correction, double ratio);
double evidence_below(const Mix& rounds, const Correction& correction, double ratio);

// The verdict alone, without intervals: what is asked after every block. O(rounds).
Verdict verdict_on(const Mix& rounds, const Correction& correction, const Rules& rules);

// How far the control's ratio lies from 1 where its game says, at Rules::alpha, that it is not 1:
// two preparations of one arm differ by that factor here, so that much of any other difference may
// be luck of placement. 1 where nothing is known to differ.
double doubt(const Mix& control, const Rules& rules);

}  // namespace tare::judge
