// Somebody else on this machine, of a known kind: what calibration weighs beside.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

namespace tare::device {

enum class NeighbourKind {
  kNone,
  kCore,    // computes without end on the last of this process's processors
  kBus,     // copies memory without end, on the same one
  kBursts,  // of 20 to 200 ms, half arithmetic, half memory, at random times: as a compiler works
};

// "quiet", "core burner", "bus burner", "bursts".
std::string_view to_string(NeighbourKind kind);

// A process of its own from construction to destruction; it ends with this process, however that
// ends. Throws tare::Error (Blame::kMachine) when there cannot be one. Not thread-safe.
class Neighbour {
 public:
  explicit Neighbour(NeighbourKind kind, std::uint64_t seed = 1);  // of the bursts
  ~Neighbour();
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  pid_t process() const { return process_; }  // 0: none

 private:
  pid_t process_ = 0;
};

}  // namespace tare::device
