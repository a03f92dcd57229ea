// Output buffers between guard zones, in memory that an arm host shares: the parent lays them out,
// and sees afterwards whether an arm wrote past its output (TRAPS C4).
//
//   | guard | output 0 | guard | output 1 | ... | guard, kEndGuard bytes at least |
//
// Outputs start 64-byte aligned; the bytes from the end of an output up to the next one are all
// guard, so that a single byte too many shows. A write that jumps from one output into the middle
// of another is not seen here but as a wrong output there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tare::prove {

inline constexpr std::size_t kOutputAlignment = 64;
inline constexpr std::size_t kSideGuard = 64;  // least bytes on either side of an output
inline constexpr std::size_t kEndGuard =
    std::size_t{2} * 4096;  // two pages: a write one page past the end is inside

// What was found in the guards.
struct Breach {
  std::size_t output = 0;  // the output whose neighbourhood was hit
  bool before = false;     // in the zone in front of output 0; otherwise behind `output`
  std::size_t distance =
      0;  // bytes from the output's edge to the nearest changed byte: 0 is adjacent
  std::uint64_t bytes = 0;  // changed bytes in all zones
};
// "wrote 32 bytes outside its outputs, nearest 0 bytes past the end of output 3"
std::string to_string(const Breach& breach);

// Where each output lies in one area. Describes memory and holds none: the same layout serves
// parent and host. Immutable, so thread-safe; write and check need the area for themselves.
class GuardedArea {
 public:
  // `output_bytes`: size of each output.
  explicit GuardedArea(std::vector<std::size_t> output_bytes);

  std::size_t outputs() const { return sizes_.size(); }
  std::size_t total_bytes() const { return total_; }  // the area must have at least these
  std::size_t offset(std::size_t output) const { return offsets_.at(output); }

  // `area` starts 64-byte aligned (throws tare::Error, kMachine, when it is not or is too small).
  std::span<std::byte> output(std::span<std::byte> area, std::size_t output) const;

  // Writes the pattern into every byte that is not an output's.
  void write_guards(std::span<std::byte> area) const;

  // Empty when every guard byte still holds the pattern. Says the breach nearest to an output.
  std::optional<Breach> check_guards(std::span<const std::byte> area) const;

 private:
  // A guard zone: [first, last) of the area, behind `output` (or before output 0).
  struct Zone {
    std::size_t first, last;
    std::size_t output;
    bool before;
  };
  std::vector<Zone> zones() const;
  void require(const std::byte* area, std::size_t bytes) const;

  std::vector<std::size_t> sizes_;
  std::vector<std::size_t> offsets_;
  std::size_t total_ = 0;
};

}  // namespace tare::prove
