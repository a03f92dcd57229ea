// What `tare calibrate` tries: settings, and the experiments of each.
#pragma once

#include <vector>

#include "calibration_bench.h"

namespace tare::app {

// Equal arms, then costs in a, c and s in both directions, where the setting is quiet also near the
// edge of equivalence, in some calls only, and of one region length.
std::vector<Experiment> experiments_of(const CalibrationSetting& setting);

// One arm against itself, of no known cost.
Experiment equal_arms_of(const EqualArm& arm);

// The short form: equal arms, watched to the end.
Experiment equal_arms_watched();
// And the least planted share that should be seen where differences of `smallest` are; nothing when
// there is none so large.
std::vector<Experiment> confirmation_of(double smallest);

}  // namespace tare::app
