#include "device/spin.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

namespace tare::device {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kFewestPieces = 100;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// A chain of dependent multiplications, about 4 cycles each: 25-35 us a piece, long against the
// clock's cost and short against the interruptions that are looked for (a scheduler tick takes some
// us, a time slice of another process ms).
std::uint64_t one_piece(std::uint64_t value) {
  constexpr int kSteps = 20000;
  for (int step = 0; step < kSteps; ++step)
    value = value * 6364136223846793005u + 1442695040888963407u;
  return value;
}

void pin_this_thread(unsigned processor) {
  const std::size_t most = processor + 1;
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(most),
                                                             [](cpu_set_t* s) { CPU_FREE(s); });
  if (set == nullptr) return;
  CPU_ZERO_S(CPU_ALLOC_SIZE(most), set.get());
  CPU_SET_S(processor, CPU_ALLOC_SIZE(most), set.get());
  // Where pinning is forbidden the spin still measures, on a processor of the kernel's choice.
  pthread_setaffinity_np(pthread_self(), CPU_ALLOC_SIZE(most), set.get());
}

std::vector<double> spin_here(double seconds) {
  std::vector<double> durations;
  durations.reserve(kFewestPieces + static_cast<std::size_t>(seconds / 10e-6));
  const Clock::time_point start = Clock::now();
  volatile std::uint64_t sink = 1;
  for (Clock::time_point now = start;
       seconds_between(start, now) < seconds || durations.size() < kFewestPieces;) {
    sink = one_piece(sink);
    const Clock::time_point after = Clock::now();
    durations.push_back(seconds_between(now, after));
    now = after;
  }
  return durations;
}

}  // namespace

Evenness evenness_of(std::vector<double> durations) {
  if (durations.size() < 2) return {};
  std::ranges::sort(durations);
  const double median = durations[durations.size() / 2];
  const double p99 = durations[durations.size() * 99 / 100];
  return {.p99_ratio = p99 / median, .max_gap_us = (durations.back() - median) * 1e6};
}

Evenness spin(const std::vector<unsigned>& processors, double seconds) {
  std::vector<Evenness> seen(processors.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < processors.size(); ++i) {
      threads.emplace_back([&seen, i, processor = processors[i], seconds] {
        pin_this_thread(processor);
        seen[i] = evenness_of(spin_here(seconds));
      });
    }
  }
  Evenness worst;
  for (const Evenness& one : seen) {
    worst.p99_ratio = std::max(worst.p99_ratio, one.p99_ratio);
    worst.max_gap_us = std::max(worst.max_gap_us, one.max_gap_us);
  }
  return worst;
}

}  // namespace tare::device
