// Weighings of a machine that does not exist: planted times, overheads and lies, under noise like
// that of real region times (two speeds with phases of a second, correlated wander, jitter,
// spikes). Seeded.
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "weigh/weighing.h"

namespace tare::judge::testing {

// Shares are of a region's time.
struct Noise {
  double slow_factor = 1.7;   // a slow phase takes this many times as long ...
  double fast_seconds = 0.7;  // ... and alternates with fast ones; mean lengths, exponential
  double slow_seconds = 0.3;  // 0: never slow
  double wander = 0.03;  // standard deviation of a slow multiplicative wander (AR(1) over regions)
  double correlation = 0.9;  // of the wander, from one region to the next
  double jitter = 0.01;      // standard deviation, independent
  double spike_probability = 0.01;
  double spike = 0.3;  // mean share a spike adds
};
inline constexpr Noise kQuiet{1, 1, 0, 0, 0, 0, 0, 0};

// What is true of one arm.
struct Truth {
  double per_dispatch = 100e-6;
  double per_region = 20e-6;
};

struct Plan {
  Truth incumbent{};
  double control_ratio = 1;    // incumbent time / control time
  double candidate_ratio = 1;  // incumbent time / candidate time
  double candidate_per_region = 20e-6;
  double stream_share = 0.8;  // of the incumbent's time per dispatch; 0: no such arm
  double peak_share = 0.1;
  bool control = true;
  std::uint64_t long_dispatches = 240;
  std::uint64_t short_dispatches = 30;  // equal to long: one length
  std::uint32_t blocks = 30;
  std::uint32_t half_ring_every = 3;  // 0: never
  double half_ring_ratio = 1;         // time of the half ring / time of the whole
  Noise noise{};
  std::uint64_t seed = 1;
};

// An honest weighing by that plan: proof equal, threads and pages the same, nobody else awake.
weigh::Weighing weigh_synthetic(const Plan& plan);

// The regions of the first `blocks` blocks.
weigh::Weighing prefix(const weigh::Weighing& weighing, std::uint32_t blocks);

// Sets a member of every region of an arm (all arms when none is named).
template <typename Member, typename Value>
void set_regions(weigh::Weighing& weighing, std::optional<weigh::Role> role, Member member,
                 Value value) {
  for (weigh::Region& region : weighing.regions)
    if (!role || region.arm == *role) region.*member = value;
}

weigh::Arm& arm(weigh::Weighing& weighing, weigh::Role role);

}  // namespace tare::judge::testing
