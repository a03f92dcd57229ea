#include "weigh/timer_floor.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace tare::weigh {

double timer_floor_seconds() {
  constexpr std::size_t kSamples = 4000;
  std::vector<double> seconds;
  seconds.reserve(kSamples);
  for (std::size_t i = 0; i < kSamples; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto stop = std::chrono::steady_clock::now();
    seconds.push_back(std::chrono::duration<double>(stop - start).count());
  }
  const auto rank = seconds.begin() + static_cast<std::ptrdiff_t>(kSamples * 99 / 100);
  std::nth_element(seconds.begin(), rank, seconds.end());
  return *rank;
}

}  // namespace tare::weigh
