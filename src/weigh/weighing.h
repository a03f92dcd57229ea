// The record of one weighing: every sample of every arm, in order, and what was true while it was
// taken. Plain data: what the judge reads, what a results file holds, what a replay starts from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tare/arm.h"

namespace tare::weigh {

enum class Role { kIncumbent, kControl, kCandidate, kStream, kPeak };
enum class Mode {
  kPrepared,
  kPerCall
};                                     // per call: prepare, bind and destroy are inside the region
enum class Residency { kCold, kHot };  // cold: the ring is past the last-level cache; hot: one slot

// Whether the outputs left behind by a timed region had the bits that the same arm proved
// beforehand.
enum class Outputs { kUnchecked, kRight, kWrong, kNonFinite };

// One region: `dispatches` dispatches and one fence, timed together.
struct Region {
  Role arm = Role::kIncumbent;
  std::uint32_t block = 0;
  std::uint32_t order = 0;  // position within its block, drawn at random
  std::uint64_t dispatches = 0;
  bool half_ring = false;    // rotated through the first half of the ring only (for the ring gate)
  double seconds = 0;        // timed inside the arm host, around enqueue...fence
  double outer_seconds = 0;  // the parent's clock, hand-over included
  double cpu_seconds = 0;    // the arm host's processor time within the region, all threads
  double others_cpu_seconds = 0;  // processor time of all other arm hosts within the region
  double elsewhere_cpu_seconds =
      0;  // processor time of everything else on this machine, steal included
  std::uint64_t page_faults = 0;
  std::uint64_t new_mappings = 0;  // memory mappings of the host that appeared during the region
  std::uint64_t involuntary_switches = 0;
  Outputs outputs = Outputs::kUnchecked;
};

// One arm of a weighing, as it was prepared and as it says it ran.
struct Arm {
  Role role = Role::kIncumbent;
  std::string name;   // "onednn"
  std::string title;  // "oneDNN 2.6.3"
  tare_dispatch_record dispatched{};
  std::uint32_t threads_offered = 0;
  double huge_page_share = 0;        // of the ring's memory, 0..1
  double prepare_seconds = 0;        // planning and packing of one slot (the ring's mean)
  std::uint64_t prepared_bytes = 0;  // memory one prepared slot holds
  std::uint64_t ring_slots = 0;
  std::uint64_t ring_bytes = 0;  // bytes of weights the whole ring holds
};

// What proving found before the region times were taken.
struct Proof {
  bool done = false;
  std::uint64_t elements = 0;  // compared between incumbent and candidate, all slots
  std::uint64_t differing = 0;
  std::uint64_t class_mismatch = 0;
  std::uint64_t candidate_non_finite = 0;
  std::uint64_t incumbent_non_finite = 0;
  std::uint64_t unwritten = 0;     // candidate elements that kept the poison, twice
  std::uint32_t max_ulp = 0;       // candidate against incumbent
  double incumbent_error_max = 0;  // against the fp64 oracle, in bf16 steps
  double incumbent_error_rms = 0;
  double candidate_error_max = 0;
  double candidate_error_rms = 0;
  std::uint64_t oracle_elements = 0;
  bool wrote_outside = false;  // a guard zone around an output changed
};

struct Weighing {
  tare_problem problem{};
  Mode mode = Mode::kPrepared;
  Residency residency = Residency::kCold;
  double traffic = 0;                 // bytes of weights a long region reads
  std::uint64_t long_dispatches = 0;  // dispatches of a long region of the incumbent
  std::uint64_t short_dispatches =
      0;                   // and of a short one; equal when traffic allows one dispatch only
  std::uint64_t seed = 0;  // of the order of blocks
  double timer_floor_seconds = 0;  // an empty region, timed the same way
  std::uint32_t threads = 0;
  std::uint64_t last_level_cache_bytes = 0;
  std::vector<Arm> arms;
  std::vector<Region> regions;
  Proof proof;
  // Filled instead of regions when an arm failed, crashed, hung or lied before or while it was
  // weighed.
  std::optional<std::string> failure;
};

// Bytes of weights that one dispatch reads, and multiply-adds times two that it does.
double weight_bytes(const tare_problem& problem);
double operations(const tare_problem& problem);

const char* to_string(Role role);  // "incumbent", "control", "candidate", "stream", "peak"

}  // namespace tare::weigh
