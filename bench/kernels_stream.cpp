// The stream floors beside oneDNN's matmul at one row, both over the same memory, weights cold.
//
//   bench_kernels_stream [k = 4096] [n = 1024] [ring MiB = 384] [seconds = 20]
//
// A round runs every arm once, in random order, over all slots in one random order; printed are the
// median of the ratios within rounds to oneDNN's time, their quartiles, and the median time of a
// dispatch. Where a floor does not stay below 1, it is no floor. Two threads of one machine share
// what memory gives, so nothing else may run meanwhile.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/cold_ring.h"
#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/limits.h"
#include "kernels/thread_pool.h"
#include "tests/kernels/onednn_projection.h"

namespace {

using namespace tare::kernels;
using tare::bench::median;
using tare::bench::quantile;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Arm {
  std::string name;
  std::function<void(std::size_t slot)> dispatch;
  std::vector<double> seconds;  // of a dispatch, one a round
};

double time_round(const Arm& arm, const std::vector<std::size_t>& slots) {
  arm.dispatch(slots.back());  // wakes the arm's threads, outside the timed part
  const auto start = Clock::now();
  for (const std::size_t slot : slots) arm.dispatch(slot);
  return seconds_since(start) / static_cast<double>(slots.size());
}

void run_rounds(std::vector<Arm>& arms, std::size_t slot_count, double seconds) {
  std::vector<std::size_t> slots(slot_count), turns(arms.size());
  std::iota(slots.begin(), slots.end(), std::size_t{0});
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  std::mt19937_64 random(1);
  const auto start = Clock::now();
  while (seconds_since(start) < seconds) {
    std::shuffle(slots.begin(), slots.end(), random);
    std::shuffle(turns.begin(), turns.end(), random);
    for (const std::size_t turn : turns) {
      arms[turn].seconds.push_back(time_round(arms[turn], slots));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // its threads fall asleep
    }
  }
}

void print(const std::vector<Arm>& arms, std::uint64_t weight_bytes) {
  const auto& reference = arms[0].seconds;
  for (const Arm& arm : arms) {
    std::vector<double> ratio;
    for (std::size_t i = 0; i < reference.size(); ++i)
      ratio.push_back(arm.seconds[i] / reference[i]);
    const double seconds = median(arm.seconds);
    fmt::print("  {:28} {:5.3f} [{:5.3f}, {:5.3f}] of {}'s time {:9.2f} us {:6.1f} GB/s\n",
               arm.name, median(ratio), quantile(ratio, 0.25), quantile(ratio, 0.75), arms[0].name,
               seconds * 1e6, static_cast<double>(weight_bytes) / seconds / 1e9);
  }
}

}  // namespace

int main(int count, char** words) {
  const auto number = [&](int index, double otherwise) {
    return count > index ? std::stod(words[index]) : otherwise;
  };
  const auto k = static_cast<std::uint64_t>(number(1, 4096));
  const auto n = static_cast<std::uint64_t>(number(2, 1024));
  const auto ring_bytes = static_cast<std::uint64_t>(number(3, 384)) << 20;

  OneDnnProjection onednn(k, n, 1);
  const std::uint64_t weight_bytes = k * n * 2;
  const std::uint64_t stride = (onednn.bytes() + 63) / 64 * 64;
  const std::size_t slot_count = std::max<std::size_t>(4, ring_bytes / stride);
  const auto ring = tare::bench::on_huge_pages(slot_count * stride);
  std::mt19937 random(1);
  std::normal_distribution<float> bell;
  std::vector<Bf16> weights(n * k), x(k), y(n);
  for (auto& one : weights) one = narrow(bell(random));
  for (auto& one : x) one = narrow(bell(random));
  for (std::size_t slot = 0; slot < slot_count; ++slot)
    onednn.bind(weights.data(), ring.get() + slot * stride);

  ThreadPool pool(std::thread::hardware_concurrency());
  std::atomic<std::uint64_t> consumed{0};
  std::vector<Arm> arms;
  arms.push_back({"oneDNN", [&](std::size_t slot) { onednn.run(slot, x.data(), y.data()); }, {}});
  for (const StreamKernel& kernel : stream_kernels()) {
    if (!kernel.runs_here()) continue;
    arms.push_back({kernel.name,
                    [&, read = kernel.read](std::size_t slot) {
                      const std::byte* from = ring.get() + slot * stride;
                      pool.run([&](std::uint32_t thread) {
                        const Slice lines = slice_of(weight_bytes / 64, pool.threads(), thread);
                        consumed += read(from + lines.first * 64, (lines.last - lines.first) * 64);
                      });
                    },
                    {}});
  }
  run_rounds(arms, slot_count, number(4, 20));
  fmt::print("{}x{}, {} slots, {} rounds\n", k, n, slot_count, arms[0].seconds.size());
  print(arms, weight_bytes);
}
