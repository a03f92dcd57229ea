// What the judge made of arms whose truth is known: trials, and how often it was right. Pure
// functions of trials: those of a file give the same summary as those just measured.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "judge/judge.h"

namespace tare::judge {

// When something was known for the first time.
struct Moment {
  bool reached = false;
  double region_seconds = 0;  // spent in rounds of incumbent, control and candidate until then
  double wall_seconds = 0;    // since the weighing began: hand-overs, long regions, slices and all
};

// One weighing of two arms of known cost, placed once.
struct Trial {
  std::string setting;     // "cold, bus burner"
  std::string experiment;  // "1 % slower"
  std::uint64_t seed = 0;
  std::uint64_t k = 0, n = 0;  // of the projection, one row
  std::uint32_t threads = 0;

  // True. Costs are the candidate's less the incumbent's, as really spent.
  // Per dispatch: win, the candidate is faster; loss, it is slower; equivalent, neither.
  Verdict direction = Verdict::kEquivalent;
  double true_ratio = 0;       // of times per dispatch, incumbent / candidate; 0: not known
  double true_byte_ratio = 0;  // of s, likewise
  double planted_region_seconds = 0;
  double planted_dispatch_seconds = 0;
  bool equal_arms = false;   // nothing was planted in either
  bool identifiable = true;  // false: one region length and no slice, which must be refused

  // Found, when the rule for rows decided (`watched`: at the end of the time).
  Verdict verdict = Verdict::kInconclusive;
  std::string cause;
  bool dispatch_win = false;
  double ratio = 0;
  Interval interval;          // at Rules::alpha
  Interval verdict_interval;  // at Rules::verdict_alpha
  double control_ratio = 0;   // the incumbent against itself, placed anew in its own process
  double mean_ratio = 0, tail_ratio = 0;
  bool region_known = false;  // both arms' a was identifiable
  double region_seconds = 0;
  bool dispatch_known = false;
  double dispatch_seconds = 0;
  double byte_ratio = 0;                     // 0: not identifiable
  std::uint32_t blocks = 0, placements = 0;  // that count
  bool watched = false;  // it went on to the end of its time, whatever was decided

  Moment decided;                                   // win, loss or equivalent, by the rule for rows
  Moment seen;                                      // which of the two is faster
  Verdict seen_direction = Verdict::kInconclusive;  // win or loss
};

// Whether a verdict says what is not so: a direction that is not there, or "equivalent" of arms
// that differ by more than `equivalence`. Refused and inconclusive are never false.
bool is_false(const Trial& trial, double equivalence);

// A cost is recovered within 2 us or 5 %, whichever is more.
bool is_recovered(double found, double planted);

struct Recovery {
  std::uint32_t known = 0;
  std::uint32_t recovered = 0;
  double median_error = 0;  // seconds, found less planted
  double worst_error = 0;   // of the 9 best of 10, without its sign
};

// All trials of one experiment in one setting. "90" is what 9 of 10 runs reached: infinity where
// fewer did.
struct CalibrationRow {
  std::string setting, experiment;
  std::uint32_t runs = 0;
  bool equal_arms = false;  // nothing was planted in either
  std::map<Verdict, std::uint32_t> verdicts;
  std::map<std::string, std::uint32_t> causes;  // of those refused
  std::uint32_t false_verdicts = 0;
  std::uint32_t dispatch_wins = 0;
  std::uint32_t intervals = 0, covered = 0;  // at Rules::alpha, where the ratio is known
  double bias = 0;                           // median of ratio / true ratio - 1
  std::vector<double> byte_errors;           // of s: found / true - 1, in the order of the trials
  Recovery region, dispatch;
  std::uint32_t seen = 0, seen_wrong = 0;  // which is faster; of the wrong one, or of equal arms
  double seen_region90 = 0, seen_wall90 = 0;
  double decided_region90 = 0, decided_wall90 = 0;
  double smallest90 = 0;  // of watched ones: the least ratio less 1 that would have been seen
  std::uint32_t watched = 0;
  std::uint32_t unidentifiable = 0, unidentifiable_refused = 0;
};

// Of s, over all experiments: each has few runs, and one run's s is some per cent off by luck of
// placement (its thin slices lie in one place each), so the median of one experiment is mostly
// luck.
struct Bias {
  std::uint32_t runs = 0;
  double median = 0;
  Interval interval;  // of the median, 95 %
};
Bias bias_of_bytes(std::span<const CalibrationRow> rows);

// In the order in which settings and experiments first occur.
std::vector<CalibrationRow> summarise(std::span<const Trial> trials, double equivalence);

}  // namespace tare::judge
