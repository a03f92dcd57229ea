// A fixed piece of work done over and over on every processor at once: how evenly a processor runs.
#pragma once

#include <vector>

namespace tare::device {

struct Evenness {
  double p99_ratio = 0;   // 99th percentile over median, of the worst processor
  double max_gap_us = 0;  // the longest piece over the median, of the worst processor
};

// How even these durations (seconds, any order) are. Zeros for fewer than two.
Evenness evenness_of(std::vector<double> durations);

// Spins one thread on each processor, pinned, for `seconds` (on 100 pieces at least), and returns
// the worst of them.
Evenness spin(const std::vector<unsigned>& processors, double seconds);

}  // namespace tare::device
