#include "judges/trace.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <random>

namespace tare::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::uint32_t timed(Arms& arms, std::uint32_t buffer_set) {
  const auto start = Clock::now();
  arms.dispatch(buffer_set);
  const auto took = std::chrono::nanoseconds(Clock::now() - start).count();
  return static_cast<std::uint32_t>(
      std::min<std::int64_t>(took, std::numeric_limits<std::uint32_t>::max()));
}

Clock::time_point after(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

Rounds record_rounds(Arms& arms, double seconds, bool opening, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> order(kArms), buffers(kArms);
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  std::iota(buffers.begin(), buffers.end(), std::uint8_t{0});
  Rounds rounds;
  for (const auto end = after(seconds); Clock::now() < end;) {
    std::shuffle(order.begin(), order.end(), random);
    std::shuffle(buffers.begin(), buffers.end(), random);
    std::uint32_t took[kArms] = {};
    for (const std::uint8_t arm : order) {
      if (opening) arms.dispatch_again(buffers[arm]);
      took[arm] = timed(arms, buffers[arm]);
    }
    rounds.nanoseconds.insert(rounds.nanoseconds.end(), took, took + kArms);
    rounds.order.insert(rounds.order.end(), order.begin(), order.end());
    rounds.buffers.insert(rounds.buffers.end(), buffers.begin(), buffers.end());
  }
  return rounds;
}

Segments record_segments(Arms& arms, double seconds, double segment_seconds, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::uint32_t> step(1, arms.buffer_sets() - 1);
  Segments segments;
  std::uint32_t set = 0;
  for (const auto end = after(seconds); Clock::now() < end;) {
    set = (set + step(random)) % arms.buffer_sets();
    const std::size_t before = segments.nanoseconds.size();
    for (const auto segment_end = after(segment_seconds); Clock::now() < segment_end;)
      segments.nanoseconds.push_back(timed(arms, set));
    segments.counts.push_back(static_cast<std::uint32_t>(segments.nanoseconds.size() - before));
    segments.buffers.push_back(static_cast<std::uint8_t>(set));
  }
  return segments;
}

}  // namespace tare::bench
