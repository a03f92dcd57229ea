// Picks the incumbent of a row: a short look at every implementation, on samples of its own, so
// that the pick does not bias the verdict (TRAPS T26).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weigh/weigh.h"

namespace tare::weigh {

struct ScreeningPlan {
  std::uint32_t rounds = 3;
  double region_seconds = 0.012;
  double give_up_seconds = 0.25;  // one dispatch slower than this is not run again
};

struct Impression {
  double seconds_per_dispatch = 0;  // median over rounds; 0 when it did not run
  std::string given_up;  // a sentence: too slow, or failed; "" when it was screened in full
};

// One impression a contestant, in their order. Arms take turns in random order, drawn from the
// plan's seed.
std::vector<Impression> screen(const WeighPlan& plan, const ScreeningPlan& screening,
                               RegionRunner& runner, std::vector<Contestant>& contestants);

// Index of the fastest impression; -1 when none ran.
int fastest(const std::vector<Impression>& impressions);

}  // namespace tare::weigh
