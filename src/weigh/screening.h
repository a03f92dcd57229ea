// Picks the incumbent of a row: a short look at every implementation, on samples of its own, so
// that the pick does not bias the verdict (TRAPS T26).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weigh/weigh.h"

namespace tare::weigh {

struct ScreeningPlan {
  std::uint32_t rounds = 7;
  double region_seconds = 0.005;
  double give_up_seconds = 0.25;  // one dispatch slower than this is not run again
};

struct Impression {
  // Lower quartile over rounds; 0 when it did not run. Not the median: a neighbour that takes a
  // processor for a while makes libraries whose threads wait for each other ten times slower than
  // one that does not mind, and would pick a weak incumbent (TRAPS T23). Seen: ggml for
  // oneDNN, 1.77x "won" where 1.14x was there.
  double seconds_per_dispatch = 0;
  std::string given_up;  // a sentence: too slow, or failed; "" when it was screened in full
};

// One impression a contestant, in their order. Arms take turns in random order, drawn from the
// plan's seed.
std::vector<Impression> screen(const WeighPlan& plan, const ScreeningPlan& screening,
                               RegionRunner& runner, std::vector<Contestant>& contestants);

// Index of the fastest impression; -1 when none ran.
int fastest(const std::vector<Impression>& impressions);

}  // namespace tare::weigh
