// What all weighings of one run share, and what is alike in all of them.
#pragma once

#include <string>

#include "arms/roster.h"
#include "device/accelerator.h"
#include "headroom.h"
#include "progress.h"
#include "report/results.h"
#include "weigh/region_runner.h"
#include "weigh/stage.h"
#include "weigh/weigh.h"

namespace tare::app {

struct Bench {
  const HeadroomOptions& options;
  const report::Header& header;
  arms::Roster& roster;
  weigh::Stage& stage;
  weigh::RegionRunner& runner;
  Progress& progress;
  const device::AcceleratorWatch* watch = nullptr;  // null: arms run on the processor
  std::string best_stream;  // the read kernel that was fastest at the first shape; "" before
};

// On a GPU a region costs 12 to 70 us beside its kernels: so long a one holds that to a hundredth.
inline constexpr double kMostDeviceRegion = 6e-3;

// A weighing of the problem of which nothing is measured yet.
weigh::Weighing blank_weighing(const Bench& bench, const tare_problem& problem);

// How a row is weighed: as the user asked, and on a device with its clocks looked at.
weigh::WeighPlan weigh_plan(const Bench& bench, const tare_problem& problem);

}  // namespace tare::app
