// Weighs prepared arms against each other: randomised blocks of rounds until the judge has seen
// enough or the time is up.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "weigh/contestant.h"
#include "weigh/region_runner.h"
#include "weigh/stage.h"
#include "weigh/weighing.h"

namespace tare::weigh {

struct WeighPlan {
  double traffic = 1e9;  // bytes of weights a long region reads
  // Length of a round's region: long enough for the clock and for what a region costs, and short,
  // since many short regions tell more than few long ones (docs/how-sure.md).
  double cold_round_seconds = 1.2e-3;
  double hot_round_seconds = 0.12e-3;
  // A long region is cut to this length for slow arms: what amortises the overhead is time, and
  // traffic stands for it.
  double most_region_seconds = 0.025;
  std::chrono::duration<double> budget{4.0};  // of one row, all arms together
  // Even when the budget is spent (up to four times): fewer decide nothing.
  std::uint32_t fewest_blocks = 8;
  Mode mode = Mode::kPrepared;
  Residency residency = Residency::kCold;
  std::uint64_t seed = 0;
  bool fresh_processes = false;  // recorded with the placement
  // Called before every block; nothing: there is no device, or it does not tell.
  std::function<std::optional<DeviceState>()> look_at_device;
};

// Adds a placement to `weighing` and its regions, until `enough` says so. A failing arm ends the
// weighing with `weighing.failure` set and every sample so far kept. Throws Interrupted on ^C.
void weigh(const WeighPlan& plan, RegionRunner& runner, std::vector<Contestant>& contestants,
           Weighing& weighing, const std::function<bool(const Weighing&)>& enough);

// Seconds of one dispatch, roughly: the least of a single dispatch and two regions of about
// `region_seconds`.
double estimate_dispatch(RegionRunner& runner, Contestant& contestant, const WeighPlan& plan,
                         double region_seconds);

}  // namespace tare::weigh
