// Proving: incumbent and candidate run the same dispatches, and what they leave behind is compared,
// bit by bit and against fp64, before any of it is timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "prove/elements.h"
#include "tare/arm.h"
#include "weigh/weighing.h"

namespace tare::prove {

// Runs one dispatch of one slot and hands back what its output buffer holds afterwards. `into`
// comes poisoned with `which` (compare.h). An arm that runs elsewhere poisons its own buffer the
// same way, runs, and copies all of it here: elements that it did not write must arrive as poison.
// Throws tare::Error when the dispatch failed.
using RunSlot = std::function<void(std::uint64_t slot, int which, Elements into)>;

struct ProvenArm {
  RunSlot run;
  // Did the last run write outside its output? Asked after every run; may be empty. See guard.h.
  std::function<bool()> wrote_outside;
};

struct ProofPlan {
  tare_problem problem{};
  std::uint64_t slots = 1;       // of the ring
  std::uint64_t most_slots = 8;  // slots to prove: drawn, the first and the last among them
  // Slots to prove beside those drawn, such as those whose digests turned out to differ
  // (differing_slots).
  std::vector<std::uint64_t> also{};
  std::uint64_t weight_seed = 0;                       // the ring's, as given to generate_weights
  std::function<ConstElements(std::uint64_t slot)> x;  // [rows, k], as both arms get it
  std::size_t oracle_elements = 256;                   // per slot, compared with fp64
  std::uint64_t draw_seed = 0;                         // of slots and elements drawn
};

// What weigh::Proof has no room for.
struct ProofDetails {
  std::vector<std::uint64_t> slots;              // that were proven, ascending
  std::vector<std::uint64_t> incumbent_digests;  // of those slots' outputs, first run
  std::vector<std::uint64_t> candidate_digests;
  // Elements that were written in both runs, with other bits: the arm is not even the same as
  // itself (TRAPS C9).
  std::uint64_t incumbent_unstable = 0;
  std::uint64_t candidate_unstable = 0;
  std::uint64_t incumbent_unwritten = 0;
  bool incumbent_wrote_outside = false;
  // Slots whose output has the bits of another slot's, though the weights differ: a memoised result
  // (TRAPS T10).
  std::uint64_t incumbent_repeats = 0;
  std::uint64_t candidate_repeats = 0;
};

struct ProofResult {
  weigh::Proof proof;
  ProofDetails details;
};

// Runs every drawn slot twice, with the two poisons, in both arms. The incumbent's first run is
// what the candidate's two runs are compared with; of the two the worse counts. Uses the memory of
// four outputs. Calls the arms one at a time, from the calling thread. Throws tare::Error (kInput)
// when an x has not rows * k elements.
ProofResult prove(const ProofPlan& plan, const ProvenArm& incumbent, const ProvenArm& candidate);

// Adds what a proof of other dispatches of the same arms found: counts, and the worse of the
// errors.
void add(weigh::Proof& sum, const weigh::Proof& more);

// Slots whose two digests differ, ascending; the two are over the same ring. A draw can miss a
// single wrong slot, the digests of the whole ring cannot.
std::vector<std::uint64_t> differing_slots(std::span<const std::uint64_t> incumbent,
                                           std::span<const std::uint64_t> candidate);

// Slots to prove: all, or `most` of them, ascending, the first and the last always among them.
std::vector<std::uint64_t> draw_slots(std::uint64_t slots, std::uint64_t most, std::uint64_t seed);

}  // namespace tare::prove
