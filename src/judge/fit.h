// Region time as a + n * (c + s * bytes): what a region costs beside its dispatches, what a
// dispatch costs beside its weights, and what a byte of weights costs.
#pragma once

#include <vector>

#include "judge/blocks.h"
#include "judge/judge.h"

namespace tare::judge {

// Time per dispatch in every block, seconds: the median of its rounds, less `per_region`; NaN where
// the block has none.
std::vector<double> block_times(const ArmTimes& times, double per_region);

// Seconds of a whole region of a round, cost per region included: the median over blocks; 0 where
// there is none.
double round_region_seconds(const ArmTimes& times);

// T / n of the regions that the traffic asked for, cost per region included: of the long ones, of
// the rounds where none is longer.
std::vector<double> naive_times(const ArmTimes& times);

// `bytes` of weights one dispatch reads; `links`: dispatches of the arm that it is (more than one
// of a chain), each of which has the cost that slices tell. All fields finite except the intervals,
// which are infinite with too few blocks. With no block at all: zeros.
Fit fit(const ArmTimes& times, double bytes, double links = 1);

struct FittedArm {
  const ArmTimes& times;
  const Fit& fit;
};
// By how much a dispatch costs `one` more than `other`, seconds a link, block by block: what
// disturbs a block disturbs both arms' slices. Both arms are of one `Blocks`.
struct DispatchCosts {
  // Of a dispatch of the thin slice: sure, and of the slice's few bytes, too. (Of 80 blocks of one
  // kernel launched one by one and as a graph all were above zero here, and 75 below.)
  std::vector<double> thin;
  std::vector<double> alone;  // without any bytes: c
};
void add_dispatch_costs(const FittedArm& one, const FittedArm& other, DispatchCosts& into);
// Of the median over blocks of either; infinite with too few.
Interval cost_interval(const std::vector<double>& costs);

}  // namespace tare::judge
