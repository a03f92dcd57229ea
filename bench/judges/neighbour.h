// Somebody else on the machine, of a known kind: what a trace was recorded beside.
#pragma once

#include <cstdint>
#include <string_view>

namespace tare::bench {

enum class NeighbourKind {
  kNone,
  kBursts,  // of 20 to 200 ms, half arithmetic, half memory, at random times: as a compiler works
  kBus,     // copies memory without end, pinned to the second processor
};

// "none", "bursts", "bus". Throws tare::Error (Blame::kInput) for another word.
NeighbourKind neighbour_kind(std::string_view word);

// A process of its own, from construction to destruction. Throws tare::Error (Blame::kMachine) when
// there cannot be one. Not thread safe; start it before other threads exist.
class Neighbour {
 public:
  Neighbour(NeighbourKind kind, std::uint64_t seed);
  ~Neighbour();
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

 private:
  int process_ = 0;  // 0: none
};

}  // namespace tare::bench
