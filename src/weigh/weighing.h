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
};  // per call: prepare, bind and destroy are inside the region
// Cold: the ring is past the last-level cache. Hot: a region reads one slot again and again.
enum class Residency { kCold, kHot };

// Whether the outputs left behind by a timed region had the bits that the same arm proved
// beforehand.
enum class Outputs { kUnchecked, kRight, kWrong, kNonFinite };

// What a region is there to show.
enum class Purpose {
  kRound,       // one turn of a round, in which every arm has one: what verdicts are taken from
  kLong,        // of the traffic that was asked for: what amortises the cost per region
  kHalfRing,    // one like a round's that rotates through the first half of the ring only
  kSliceOne,    // one dispatch of a thin slice of the problem, hot: little but the cost per region
                // (of a whole model's tokens, one batch: nothing is thinner)
  kSliceMany,   // several of them
  kSliceTwice,  // as many of a slice that is twice as wide
};

// One region: `dispatches` dispatches and one fence, timed together.
struct Region {
  Role arm = Role::kIncumbent;
  Purpose purpose = Purpose::kRound;
  std::uint32_t placement = 0;  // which preparing of the arms it ran on: Weighing::placements
  std::uint32_t block = 0;      // counted anew in every placement
  std::uint32_t round = 0;      // within its block, for kRound
  std::uint32_t order = 0;      // position within its block, drawn at random
  std::uint64_t dispatches = 0;
  double seconds = 0;             // timed inside the arm host, around enqueue...fence
  double outer_seconds = 0;       // the parent's clock, hand-over included
  double device_seconds = 0;      // the device's own clock, launch and fence left out; 0: none
  double cpu_seconds = 0;         // the arm host's processor time within the region, all threads
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
  // On a GPU: what its process keeps of the L2 for lines that persist (device/l2_set_aside.h).
  std::uint64_t l2_set_aside_bytes = 0;
};

// Rows of the candidate's outputs, each held against what one arm makes of that row alone.
struct RowProof {
  Role against =
      Role::kCandidate;           // whose one-row results: the candidate's own, or the incumbent's
  std::uint64_t elements = 0;     // compared; 0: it was not asked for, or could not be done
  std::uint64_t by_count = 0;     // with other bits beside as many rows as were dispatched
  std::uint64_t by_position = 0;  // at another place among the same rows
  std::uint64_t by_neighbours = 0;  // beside NaN, infinite, huge or subnormal rows
  std::string failure;              // why it could not be done: a sentence
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
  RowProof rows;
};

// All arms prepared once, and what was weighed on that. Another placement is other memory, and
// where `fresh_processes` says so other processes: luck of either shows as a difference between
// placements.
struct Placement {
  std::uint64_t seed = 0;  // of the order of its regions
  double traffic = 0;      // bytes of weights a long region reads
  bool fresh_processes = false;
  // The gate whose refusal made it be weighed again, cured; "": it counts. Its samples are kept.
  std::string set_aside;
};

// A device as it was before a block: what its clocks and its limits were.
struct DeviceState {
  std::uint32_t placement = 0, block = 0;
  std::uint32_t sm_mhz = 0, memory_mhz = 0, celsius = 0;
  double watts = 0;
  // Why clocks are not the highest: the bits of nvmlClocksEventReasons.
  std::uint64_t slowed_by = 0;
  double others_busy = 0;  // share of its time that other people's processes used
};

// As many matrices of one problem in a chain: one dispatch of each.
struct ChainPart {
  tare_problem problem{};
  std::uint64_t count = 0;
  std::vector<std::uint64_t> parts{};  // as Weighing::parts
};

struct Weighing {
  tare_problem problem{};
  // Of a fused projection, n of what lies side by side in it (q, k, v): an incumbent may compute
  // them one after the other. Empty: it is one matrix.
  std::vector<std::uint64_t> parts;
  // Where a dispatch of this weighing is a whole chain of them, as a token's: what is in it; the
  // problem above is then that of its last one. Empty: the problem alone.
  std::vector<ChainPart> chain;
  Mode mode = Mode::kPrepared;
  Residency residency = Residency::kCold;
  std::uint64_t slice_columns = 0;  // n of the thin slice; 0: none was weighed
  double timer_floor_seconds = 0;   // an empty region, timed the same way
  std::uint32_t threads = 0;
  std::uint64_t last_level_cache_bytes = 0;
  std::vector<Arm> arms;
  std::vector<Placement> placements;
  std::vector<Region> regions;
  std::vector<DeviceState> device_states;  // one a block; empty: no device
  Proof proof;
  // Filled instead of regions when an arm failed, crashed, hung or lied before or while it was
  // weighed.
  std::optional<std::string> failure;
};

// Bytes of weights that one dispatch reads, and multiply-adds times two that it does.
double weight_bytes(const tare_problem& problem);
double operations(const tare_problem& problem);
// The same of one dispatch of a weighing, and of how many the arms make of it.
double weight_bytes(const Weighing& weighing);
double operations(const Weighing& weighing);
double links(const Weighing& weighing);

const char* to_string(Role role);  // "incumbent", "control", "candidate", "stream", "peak"

// A floor of the machine, not somebody's implementation.
bool is_limit(Role role);

// The arm of that role as it was prepared; null when the weighing has none.
const Arm* arm_of(const Weighing& weighing, Role role);

// The same weighing with the regions of one placement only.
Weighing of_placement(const Weighing& weighing, std::uint32_t placement);

}  // namespace tare::weigh
