// A recorded trace and its file (bench/judges/README.md has the format).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judges/arms.h"

namespace tare::bench {

inline constexpr std::uint32_t kArms = 4;

// Interleaved: rounds of all arms in random order, buffer sets dealt to the arms anew each round.
struct Rounds {
  std::vector<std::uint32_t> nanoseconds;  // [round][arm]
  std::vector<std::uint8_t> order;         // [round][place]: the arm that ran there
  std::vector<std::uint8_t> buffers;       // [round][arm]: the set it ran on
};

// Sequential: one long segment after another, each on a buffer set other than the last one's.
struct Segments {
  std::vector<std::uint32_t> nanoseconds;  // all regions, one after another
  std::vector<std::uint32_t> counts;       // regions of each segment
  std::vector<std::uint8_t> buffers;       // of each segment
};

// `opening`: an untimed dispatch of the same arm before each region, on the same weights.
Rounds record_rounds(Arms& arms, double seconds, bool opening, std::uint64_t seed);
Segments record_segments(Arms& arms, double seconds, double segment_seconds, std::uint64_t seed);

}  // namespace tare::bench
