#include "bench.h"

#include <chrono>
#include <optional>

#include "device/diagnosis.h"
#include "weigh/timer_floor.h"

namespace tare::app {
namespace {

std::optional<weigh::DeviceState> look(const device::AcceleratorWatch& watch) {
  const auto state = watch.look();
  if (!state) return std::nullopt;
  return weigh::DeviceState{0,
                            0,
                            state->sm_mhz,
                            state->memory_mhz,
                            state->celsius,
                            state->watts,
                            state->slowed_by,
                            state->others_busy};
}

}  // namespace

weigh::Weighing blank_weighing(const Bench& bench, const tare_problem& problem) {
  weigh::Weighing blank;
  blank.problem = problem;
  blank.mode = bench.options.mode;
  blank.residency = bench.options.residency;
  blank.threads = bench.header.machine.threads;
  blank.last_level_cache_bytes =
      device::arm_memory(bench.header.machine, bench.header.accelerator).cache_bytes;
  blank.timer_floor_seconds = weigh::timer_floor_seconds();
  return blank;
}

weigh::WeighPlan weigh_plan(const Bench& bench, const tare_problem& problem) {
  weigh::WeighPlan plan;
  plan.traffic = bench.header.traffic;
  plan.budget = std::chrono::duration<double>(bench.options.seconds_per_row);
  plan.mode = bench.options.mode;
  plan.residency = bench.options.residency;
  if (bench.watch != nullptr) {
    plan.look_at_device = [watch = bench.watch] { return look(*watch); };
    plan.most_region_seconds = kMostDeviceRegion;
  }
  plan.seed = bench.header.seed ^ (problem.k << 40) ^ (problem.n << 16) ^ problem.rows;
  return plan;
}

}  // namespace tare::app
