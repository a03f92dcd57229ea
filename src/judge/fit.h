// Region time as a + n * t: what a region costs beside its dispatches, and what a dispatch costs.
#pragma once

#include <vector>

#include "judge/blocks.h"
#include "judge/judge.h"

namespace tare::judge {

// Time per dispatch in every block, seconds: (T_long - T_short) / (n_long - n_short), free of any
// cost per region, where there are two lengths; T_long / n_long where there is one. NaN where the
// block has no such regions. Noise may make a difference negative.
std::vector<double> slopes(const ArmTimes& times);
// T_long / n_long in every block, cost per region included.
std::vector<double> naive_times(const ArmTimes& times);

// All fields finite except the intervals, which are infinite with too few blocks. With no block at
// all: zeros.
Fit fit(const ArmTimes& times);

}  // namespace tare::judge
