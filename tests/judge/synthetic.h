// Weighings of a machine that does not exist: planted times, overheads and lies, under noise like
// that of real region times (two speeds with phases of a second, correlated wander, jitter,
// spikes). Seeded.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>

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
  double dispatch_cost = 0;  // what a dispatch of a slice takes beside the slice's columns
};

struct Plan {
  Truth incumbent{};
  double control_ratio = 1;    // incumbent time / control time
  double candidate_ratio = 1;  // incumbent time / candidate time
  double candidate_per_region = 20e-6;
  double candidate_dispatch_cost = 0;
  double stream_share = 0.8;  // of the incumbent's time per dispatch; 0: no such arm
  double peak_share = 0.1;
  bool control = true;
  std::uint64_t long_dispatches = 240;
  std::uint64_t round_dispatches = 12;  // equal to long: no region is longer
  std::uint32_t rounds = 5;             // a block
  std::uint32_t blocks = 30;
  // Long regions, half rings and slices are in the first blocks and then in one now and then.
  std::uint32_t first_full_blocks = 8;
  std::uint32_t full_block_every = 4;
  bool half_ring = true;                 // in full blocks
  double half_ring_ratio = 1;            // time of the half ring / time of the whole
  double candidate_half_ring_ratio = 1;  // likewise
  bool slices = true;
  double slice_seconds = 5e-6;  // of the columns of the thin slice, every arm, hot
  // The candidate takes this much longer in some of its regions.
  double intermittent_share = 0;
  double intermittent_cost = 0;
  Noise noise{};
  std::uint64_t seed = 1;
};

// An honest weighing by that plan, on one placement: proof equal, threads and pages the same,
// nobody else awake.
weigh::Weighing weigh_synthetic(const Plan& plan);

// Weighs the same arms once more, on another placement. `set_aside`: the gate that was cured by
// it, for which the placement before does not count.
void weigh_again(const Plan& plan, weigh::Weighing& weighing, const std::string& set_aside = "");

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
