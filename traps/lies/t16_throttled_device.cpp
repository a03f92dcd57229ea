// T16: a device slows down while one arm runs. Told on recorded rounds: no program can make a GPU
// throttle at will.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "judge/judge.h"
#include "traps/laboratory.h"

namespace tare::traps {
extern const Trap kThrottledDevice;

namespace {

constexpr double kSlower = 1.5;
constexpr std::uint32_t kFullMhz = 1980, kSlowMhz = 1320;
constexpr std::uint64_t kPowerCap = 0x4;  // of nvmlClocksEventReasons

bool is_slowed(std::uint32_t block) {
  return block % 2 == 1;
}

// Region for region, every arm takes as long as the incumbent did: what this machine's neighbours
// do is no part of the lie.
void make_equal(weigh::Weighing& weighing) {
  using Place = std::tuple<std::uint32_t, std::uint32_t, weigh::Purpose>;
  std::map<Place, std::vector<double>> incumbent;
  for (const weigh::Region& region : weighing.regions)
    if (region.arm == weigh::Role::kIncumbent)
      incumbent[{region.placement, region.block, region.purpose}].push_back(region.seconds);
  std::map<std::pair<weigh::Role, Place>, std::size_t> taken;
  for (weigh::Region& region : weighing.regions) {
    const Place place{region.placement, region.block, region.purpose};
    const auto found = incumbent.find(place);
    if (weigh::is_limit(region.arm) || found == incumbent.end()) continue;
    const std::size_t index = taken[{region.arm, place}]++;
    region.seconds = found->second[index % found->second.size()];
  }
}

// In every other block the device is slow whenever the incumbent or its control runs.
void slow_one_side(weigh::Weighing& weighing) {
  weighing.device_states.clear();
  for (weigh::Region& region : weighing.regions) {
    const bool theirs =
        region.arm == weigh::Role::kIncumbent || region.arm == weigh::Role::kControl;
    if (theirs && is_slowed(region.block)) region.seconds *= kSlower;
    const bool known = !weighing.device_states.empty() &&
                       weighing.device_states.back().placement == region.placement &&
                       weighing.device_states.back().block == region.block;
    const bool slowed = is_slowed(region.block);
    if (!known)
      weighing.device_states.push_back({region.placement, region.block,
                                        slowed ? kSlowMhz : kFullMhz, 2619, 75, 690,
                                        slowed ? kPowerCap : 0});
  }
}

double mean_seconds(const weigh::Weighing& weighing, weigh::Role role) {
  double seconds = 0, dispatches = 0;
  for (const weigh::Region& region : weighing.regions)
    if (region.arm == role) {
      seconds += region.seconds;
      dispatches += static_cast<double>(region.dispatches);
    }
  return seconds / dispatches;
}

Outcome run(const Laboratory& laboratory) {
  // Enough blocks of either kind, of a kernel and itself.
  const Headroom run = laboratory.headroom(cold_row(
      {"--seconds-per-row", "3", "--traffic", "2e7", "--arm", laboratory.arm("is_the_incumbent")}));
  report::Row row = run.row();
  make_equal(row.weighing);
  slow_one_side(row.weighing);
  row.judgement = judge::judge(row.weighing, run.results.header.rules);
  const double ratio = mean_seconds(row.weighing, weigh::Role::kIncumbent) /
                       mean_seconds(row.weighing, weigh::Role::kCandidate);
  return refused_by(row, {"drift"}, "a kernel is " + times_as_fast(ratio, "itself"));
}

}  // namespace

const Trap kThrottledDevice{"T16 GPU",
                            "throttled-device",
                            "a device slows down while one arm runs",
                            "imp#1469; triton#2306 (30 %)",
                            "a kernel and itself, recorded here; in every other block a power cap "
                            "is planted, which makes one side half as long again",
                            "drift",
                            run};

}  // namespace tare::traps
