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

// Region time of one arm as a + n * t, t = c + s * bytes. Intervals of costs are at 99 %, of t at
// 95 %, of medians over blocks; they do not correct for correlation between blocks.
struct Fit {
  double per_dispatch = 0;  // t, seconds
  Interval per_dispatch_interval;
  double per_region = 0;  // a, seconds; may come out a little below zero
  Interval per_region_interval;
  bool identifiable = false;  // false: nothing tells a from t
  double dispatch_cost = 0;   // c, seconds: of a dispatch with no weights to speak of
  Interval dispatch_cost_interval;
  double seconds_per_byte = 0;      // s, at the residency that was weighed
  bool split_identifiable = false;  // false: nothing tells c from s
  double overhead_share = 0;        // max(0, a) of a long region's median time
  double naive_per_dispatch =
      0;  // mean long-region time / dispatches: what a harness that does not fit says
};

enum class Bound { kMemory, kCompute };
enum class Verdict { kWin, kLoss, kEquivalent, kInconclusive, kRefused };
enum class Decision { kServe, kKeep, kTrade };  // trade: it wins, but is not as equal as asked for
enum class Bits { kEqual, kDiffer, kUnknown };

// What serving a candidate demands of its outputs: the user's choice.
enum class Equality {
  kIncumbent,  // the incumbent's bits, at this shape and row count
  kOneRow,     // every row has the bits of the incumbent's one-row result of it
  kSelf,     // a row's bits depend on no row count, row position or neighbour: an order of its own
  kBounded,  // the error against fp64 is not worse than the incumbent's
};

// One gate's finding. `sentence` says what was seen and what to do: always set when it failed; when
// it passed, set only to a note worth knowing (nothing to check with, a noisy machine).
struct Finding {
  std::string gate;  // "overhead", "limit", "ring", "control", "identity", "threads", "output",
                     // ...; docs/how-sure.md
  bool passed = true;
  double seen = 0;     // the number that was compared ...
  double allowed = 0;  // ... with this one; units are the gate's own
  std::string sentence;
  // What may make it pass: longer regions, or the same again, prepared anew on a quieter machine.
  bool curable_by_traffic = false;
  bool curable_by_repeating = false;
};

struct Rules {
  double alpha = 0.05;  // of the interval that is shown
  double verdict_alpha =
      0.01;  // of the interval that verdicts and gates stand on: a table has many rows
  double equivalence = 0.01;       // +- this share counts as equal
  double overhead_share = 0.02;    // most a region may spend outside its dispatches
  double floor_multiple = 50;      // a short region must be this many timer floors long
  std::uint32_t least_blocks = 8;  // weigh at least this many before stopping
  // A win or a loss is weighed again, prepared anew in fresh processes, and stands when each of so
  // many placements says it by itself. A win that was found while choosing (the incumbent of a row
  // is picked) may be luck; and one and the same kernel was seen 25 % slower in some processes.
  std::uint32_t verdict_placements = 1;
  // The same of "equivalent", which must also lie within the equivalence region with luck allowed
  // for. 1: luck is not (files of before).
  std::uint32_t equivalence_placements = 1;
  // How it is told which of two arms is cheaper a dispatch: by their thin slices, block by block on
  // all placements; else, in files of before, by c, block by block on the last placement; else by
  // the interval of either arm's c.
  bool dispatch_costs_by_slice = false;
  bool dispatch_costs_by_block = false;
  // Seconds that calling one dispatch may cost at most; what is gained beyond is the kernel's. On a
  // GPU a dispatch of a thin slice still walks all of k: of MLX's 4-bit product with 8 rows that is
  // 110 us of 120. 0: whatever slices say (on a processor, and in files of before).
  double calling_cost_at_most = 0;
  // Where all say it, but by no more than luck of placement may make (judge/luck.h), others are
  // added, up to so many. `alpha` and `verdict_alpha` of luck are split among these looks. 0: luck
  // is not allowed for.
  std::uint32_t most_placements = 0;
  Equality equality = Equality::kIncumbent;  // what a win must keep to be served
  // The limit is the fastest of all placements that count: it lies in memory of its own, which may
  // be slow. Else, in files of before, the last one's.
  bool limit_of_all_placements = false;
};

struct Judgement {
  std::map<weigh::Role, Fit> fits;  // of the last placement that counts
  double limit_seconds = 0;  // of one dispatch: max(bytes / stream, operations / peak), from the
                             // same blocks (Rules:: limit_of_all_placements)
  Bound bound = Bound::kMemory;
  double stream_bytes_per_second = 0;
  double peak_operations_per_second = 0;
  double incumbent_gbps = 0;  // bytes of weights per second, incumbent
  double candidate_gbps = 0;
  double gap = 0;  // incumbent time / limit time
  double ratio =
      0;  // incumbent time / candidate time: above 1 the candidate is faster; 0: not known
  Interval interval;  // of the ratio, valid while watched; [0, infinity] before it can exclude
                      // anything. Where several placements count: around all of theirs, and
                      // around what luck of placement leaves open
  Interval verdict_interval;  // the same at Rules::verdict_alpha: what the verdict was read from
  double mean_ratio = 0;      // of mean times of rounds: what a shift of the median does not show
  double tail_ratio = 0;      // of 90th percentiles of rounds
  double naive_ratio = 0;
  double control_ratio = 0;  // incumbent time / control time: 1 on an honest machine
  Interval control_interval;
  // Evidence that the candidate is faster, over all placements that count: natural logarithm
  // of an e-value, what the games held when weighing stopped. (The most that they ever held
  // excludes a ratio, but is no e-value: its mean has no bound.)
  double log_evidence = 0;
  std::uint32_t placements = 0;  // that count
  double placement_spread = 1;   // largest / least ratio among them
  bool unconfirmed = false;      // decided, and another placement may confirm it
  // Every placement says won, or lost, but by no more than placements differ by luck; or every one
  // says equivalent, but luck leaves more than that open.
  bool within_luck = false;
  bool dispatch_win =
      false;  // nine tenths of the gain or more are a cost per dispatch, not time per byte
  // After how many dispatches the candidate's preparing has paid; 0: it is not dearer; infinity: it
  // never pays.
  double break_even_dispatches = 0;
  std::uint32_t blocks = 0;    // of all placements that count
  double weighed_seconds = 0;  // region time of incumbent, control and candidate in them
  // Inconclusive: how many seconds more of region time are likely to decide it; 0: not known.
  double seconds_to_decide = 0;
  Bits bits = Bits::kUnknown;  // against the incumbent's, whatever equality was asked for
  Verdict verdict = Verdict::kInconclusive;
  Decision decision = Decision::kKeep;
  std::string cause;  // name of the gate that refused, or "" ; "failed" when an arm failed
  std::string cause_sentence;
  std::vector<Finding> gates;  // of the last placement that counts, unless another one's failed
};

// Never throws and never returns a NaN, whatever is missing (no block, no candidate, no control, no
// limit arms): what cannot be known is 0, intervals are then [0, infinity] ([-infinity, infinity]
// in a Fit). One dispatch of a limit arm stands for one dispatch of the problem: it reads
// weight_bytes(weighing), or does operations(weighing). Thread-safe.
Judgement judge(const weigh::Weighing& weighing, const Rules& rules = {});

// Looked at after every block while weighing: may it stop? True when the last placement's game has
// decided (win, loss or equivalent) and rules.least_blocks of its blocks are complete. Gates are
// not looked at. O(rounds): about a millisecond for a thousand.
bool decided(const weigh::Weighing& weighing, const Rules& rules = {});

// Benjamini and Hochberg's rule for e-values (Wang and Ramdas, 2022), valid under any dependence:
// of `rows` rows judged together, the wins that may be claimed so that the expected share of false
// ones among them is at most `rate`. `wins`: log_evidence of a row that won, nothing for another;
// rows beyond them count as ones that did not win. Element i is true when row i is a win that
// stands. More wins only ever make others stand.
std::vector<bool> stand_together(const std::vector<std::optional<double>>& wins, std::size_t rows,
                                 double rate);

// The words used in print and in files.
const char* to_string(Verdict verdict);
const char* to_string(Decision decision);
const char* to_string(Bits bits);
const char* to_string(Equality equality);
const char* to_string(Bound bound);

}  // namespace tare::judge
