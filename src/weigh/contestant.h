// An arm as it takes part in a weighing: prepared in its arm host, with its place in the ring.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "arms/host.h"
#include "weigh/weighing.h"

namespace tare::weigh {

// Thin slices of the problem, of one slot each: what tells the cost of a region and of a dispatch.
struct Slices {
  std::uint32_t once = 0;   // executors
  std::uint32_t twice = 0;  // of twice the columns
};

struct Contestant {
  Role role = Role::kIncumbent;
  arms::Host* host = nullptr;
  std::uint32_t executor = 0;
  std::uint64_t slots = 1;        // of its ring
  std::uint64_t cursor = 0;       // the slot the next region starts at: the one longest unread
  std::uint64_t half_cursor = 0;  // the same for regions that rotate through half of the ring
  // What this arm's output for each slot must be, as proved beforehand; empty: its outputs are not
  // checked.
  std::vector<std::uint64_t> digests;
  std::optional<Slices> slices;
  // Of a chain, whose executor runs many dispatches as one: the elements of the last one's output,
  // the only one that timed regions are checked with. It has one slot.
  std::optional<std::uint64_t> chain_output;
  // n of the parts that its outputs lie in, one behind the other, each [rows, n of the part]; none:
  // they are one [rows, n].
  std::vector<std::uint64_t> output_parts{};
};

}  // namespace tare::weigh
