#include "judge/throttle.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "judge/fit.h"
#include "judge/sequential.h"

namespace tare::judge {
namespace {

using weigh::DeviceState;
using weigh::Role;

// nvmlClocksEventReasons: power cap, hardware slowdown, thermal slowdowns, power brake.
constexpr std::uint64_t kSlowdowns = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;
constexpr double kLower = 0.95;   // of the highest clock seen
constexpr double kApart = 0.001;  // of the ratio: less is rounding
constexpr std::size_t kFewestBlocks = 8;

struct Clocks {
  std::vector<std::uint32_t> slowed;  // blocks
  std::uint32_t lowest = 0, highest = 0;
};

Clocks clocks_of(const Evidence& evidence) {
  Clocks clocks;
  if (evidence.weighing.regions.empty()) return clocks;
  std::vector<DeviceState> states = evidence.weighing.device_states;
  std::erase_if(states, [&](const DeviceState& state) {
    return state.placement != evidence.weighing.regions.front().placement || state.sm_mhz == 0;
  });
  if (states.empty()) return clocks;
  const auto [low, high] = std::ranges::minmax(states, {}, &DeviceState::sm_mhz);
  clocks.lowest = low.sm_mhz;
  clocks.highest = high.sm_mhz;
  for (const DeviceState& state : states)
    if ((state.slowed_by & kSlowdowns) != 0 || state.sm_mhz < kLower * high.sm_mhz)
      clocks.slowed.push_back(state.block);
  return clocks;
}

// log(incumbent / arm) of blocks that were slowed, and of the others.
struct Halves {
  std::vector<double> slowed, full;

  bool exclude_each_other(double alpha) const {
    if (std::min(slowed.size(), full.size()) < kFewestBlocks) return false;
    const Interval slow = median_set(slowed, alpha).interval;
    const Interval fast = median_set(full, alpha).interval;
    return slow.low > fast.high + kApart || fast.low > slow.high + kApart;
  }
};

Halves halves_of(const Evidence& evidence, Role role, const Clocks& clocks) {
  Halves halves;
  const auto& arms = evidence.blocks.arms;
  const auto incumbent = arms.find(Role::kIncumbent), arm = arms.find(role);
  if (incumbent == arms.end() || arm == arms.end()) return halves;
  const auto above = block_times(incumbent->second, 0), below = block_times(arm->second, 0);
  for (std::size_t i = 0; i < evidence.blocks.count(); ++i) {
    const double value = std::log(above[i] / below[i]);
    const bool slow = std::ranges::count(clocks.slowed, evidence.blocks.numbers[i]) > 0;
    if (std::isfinite(value)) (slow ? halves.slowed : halves.full).push_back(value);
  }
  return halves;
}

}  // namespace

std::optional<Throttling> throttling(const Evidence& evidence) {
  const Clocks clocks = clocks_of(evidence);
  if (clocks.slowed.empty()) return std::nullopt;
  for (const Role role : {Role::kCandidate, Role::kControl})
    if (halves_of(evidence, role, clocks).exclude_each_other(evidence.rules.verdict_alpha))
      return Throttling{role, clocks.slowed.size(), clocks.lowest, clocks.highest};
  return std::nullopt;
}

}  // namespace tare::judge
