// May it be believed? Pure functions of a Weighing: no clock, no machine, no randomness beyond the
// recorded seed. A replay of the same samples gives the same bytes.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "weigh/weighing.h"

namespace tare::judge {

struct Interval {
  double low = 0;
  double high = 0;
};

// Region time of one arm as a + n * t, from long and short regions paired by block.
struct Fit {
  double per_dispatch = 0;         // t, seconds
  Interval per_dispatch_interval;  // 95 %, of the median over blocks
  double per_region = 0;           // a, seconds; may come out a little below zero
  Interval per_region_interval;
  bool identifiable = false;  // false: one region length only, so a and t cannot be told apart
  double overhead_share = 0;  // max(0, a) of a long region's median time
  double naive_per_dispatch =
      0;  // mean long-region time / dispatches: what a harness that does not fit says
};

enum class Bound { kMemory, kCompute };
enum class Verdict { kWin, kLoss, kEquivalent, kInconclusive, kRefused };
enum class Decision { kServe, kKeep, kTrade };  // trade: it wins, but its bits differ
enum class Bits { kEqual, kDiffer, kUnknown };

// One gate's finding. `sentence` says what was seen and what to do: always set when it failed; when
// it passed, set only to a note worth knowing (nothing to check with, a noisy machine).
struct Finding {
  std::string gate;  // "overhead", "limit", "ring", "control", "identity", "threads", "output",
                     // ...; docs/how-sure.md
  bool passed = true;
  double seen = 0;     // the number that was compared ...
  double allowed = 0;  // ... with this one; units are the gate's own
  std::string sentence;
  bool curable_by_traffic = false;  // a longer region may make it pass
};

struct Rules {
  double alpha = 0.05;  // of the interval that is shown
  double verdict_alpha =
      0.01;  // of the interval that verdicts and gates stand on: a table has many rows
  double equivalence = 0.01;        // +- this share counts as equal
  double overhead_share = 0.02;     // most a region may spend outside its dispatches
  double floor_multiple = 50;       // a short region must be this many timer floors long
  std::uint32_t least_blocks = 10;  // weigh at least this many before stopping
};

struct Judgement {
  std::map<weigh::Role, Fit> fits;
  double limit_seconds =
      0;  // of one dispatch: max(bytes / stream, operations / peak), from the same blocks
  Bound bound = Bound::kMemory;
  double stream_bytes_per_second = 0;
  double peak_operations_per_second = 0;
  double incumbent_gbps = 0;  // bytes of weights per second, incumbent
  double candidate_gbps = 0;
  double gap = 0;  // incumbent time / limit time
  double ratio =
      0;  // incumbent time / candidate time: above 1 the candidate is faster; 0: not known
  Interval
      interval;  // of the ratio, valid while watched; [0, infinity] before it can exclude anything
  Interval verdict_interval;  // the same at Rules::verdict_alpha: what the verdict was read from
  double naive_ratio = 0;
  double control_ratio = 0;  // incumbent time / control time: 1 on an honest machine
  Interval control_interval;
  // After how many dispatches the candidate's preparing has paid; 0: it is not dearer; infinity: it
  // never pays.
  double break_even_dispatches = 0;
  std::uint32_t blocks = 0;
  Bits bits = Bits::kUnknown;
  Verdict verdict = Verdict::kInconclusive;
  Decision decision = Decision::kKeep;
  std::string cause;  // name of the gate that refused, or "" ; "failed" when an arm failed
  std::string cause_sentence;
  std::vector<Finding> gates;
};

// Never throws and never returns a NaN, whatever is missing (no block, no candidate, no control, no
// limit arms): what cannot be known is 0, intervals are then [0, infinity] ([-infinity, infinity]
// in a Fit). One dispatch of a limit arm stands for one dispatch of the problem: it reads
// weight_bytes(problem), or does operations(problem). Thread-safe.
Judgement judge(const weigh::Weighing& weighing, const Rules& rules = {});

// Looked at after every block while weighing: may it stop? True when the verdict interval has
// decided (win, loss or equivalent) and rules.least_blocks blocks are complete. Gates are not
// looked at. O(blocks^2) copies of doubles at worst: microseconds for hundreds of blocks.
bool decided(const weigh::Weighing& weighing, const Rules& rules = {});

// How the bits of a candidate that wins are turned into a decision, and the words used in print and
// in files.
const char* to_string(Verdict verdict);
const char* to_string(Decision decision);
const char* to_string(Bits bits);
const char* to_string(Bound bound);

}  // namespace tare::judge
