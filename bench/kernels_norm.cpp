// What RMSNorm on the way into a projection could save: normalising x apart, in the caches, its
// rows dealt to the threads (hand-over included), against the projection that reads it, cold. In
// the projection's own dispatch every thread needs all of x, and so would normalise all rows by
// itself: what one thread takes for all of them is the time that stays. docs/kernels/panel.md has
// the figures.
//
// usage: bench_kernels_norm [ring MiB] [rounds]
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/cold_ring.h"
#include "kernels/cpu/paths.h"
#include "kernels/panel_projection.h"
#include "kernels/sum_order.h"
#include "kernels/thread_pool.h"

namespace {

using namespace tare::kernels;
using Clock = std::chrono::steady_clock;
using tare::bench::median;

// y = x / sqrt(mean(x^2) + eps) * weight of one row, f32 inside; a sum for each lane of two
// vectors.
#if defined(__x86_64__)
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"), gnu::optimize("O3")]]
#endif
void normalise(const Bf16* x, const Bf16* weight, std::uint64_t k, Bf16* y) {
  constexpr std::uint64_t kLanes = 32;
  const auto wide = [](Bf16 value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
  };
  float sums[kLanes] = {};
  for (std::uint64_t i = 0; i < k; i += kLanes)
    for (std::uint64_t lane = 0; lane < kLanes; ++lane)
      sums[lane] += wide(x[i + lane]) * wide(x[i + lane]);
  float squares = 0;
  for (const float sum : sums) squares += sum;
  const float scale = 1 / std::sqrt(squares / static_cast<float>(k) + 1e-6F);
  for (std::uint64_t i = 0; i < k; ++i)
    y[i] = narrow_unflushed(wide(x[i]) * scale * wide(weight[i]));
}

std::vector<Bf16> drawn(std::uint64_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> bell;
  std::vector<Bf16> values(count);
  for (Bf16& one : values) one = narrow(bell(random));
  return values;
}

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

void compare(ThreadPool& pool, std::uint64_t k, std::uint64_t n, std::size_t ring, int rounds) {
  constexpr std::uint32_t kMostRows = 32;
  constexpr int kRepeats = 50;
  const auto slots = static_cast<std::uint32_t>(std::max<std::size_t>(4, ring / (2 * k * n)));
  const auto weights = drawn(n * k), x = drawn(kMostRows * k), gains = drawn(k);
  std::vector<Bf16> normal(kMostRows * k), y(kMostRows * n);
  // On huge pages, as an arm's memory is.
  std::vector<std::shared_ptr<std::byte>> held;
  PanelProjection projection({k, n}, onednn_order(k), kMostRows, slots, choose_panel_path(""), pool,
                             {.allocate =
                                  [&](std::size_t bytes) {
                                    held.push_back(tare::bench::on_huge_pages(bytes));
                                    return static_cast<void*>(held.back().get());
                                  },
                              .release = [](void*) {}});
  for (std::uint32_t slot = 0; slot < slots; ++slot) projection.bind(slot, weights.data());
  for (const std::uint32_t rows : {1u, 8u, 32u}) {
    projection.set_rows(rows);
    std::vector<double> alone, dealt, dispatch;
    const auto normalise_rows = [&](Slice slice) {
      for (std::uint64_t row = slice.first; row < slice.last; ++row)
        normalise(x.data() + row * k, gains.data(), k, normal.data() + row * k);
    };
    for (int round = 0; round < rounds; ++round) {
      auto start = Clock::now();
      for (int i = 0; i < kRepeats; ++i) normalise_rows({0, rows});
      alone.push_back(microseconds_since(start) / kRepeats);
      start = Clock::now();
      for (int i = 0; i < kRepeats; ++i)
        pool.run(
            [&](std::uint32_t thread) { normalise_rows(slice_of(rows, pool.threads(), thread)); });
      dealt.push_back(microseconds_since(start) / kRepeats);
      projection.run(slots - 1, normal.data(), y.data());
      start = Clock::now();
      for (std::uint32_t slot = 0; slot < slots; ++slot)
        projection.run(slot, normal.data(), y.data());
      dispatch.push_back(microseconds_since(start) / slots);
    }
    fmt::print(
        "{}x{} rows {:2}: RMSNorm of x {:6.2f} us by one thread, {:6.2f} us dealt to {}; "
        "projection "
        "{:8.2f} us: {:.2f} and {:.2f} %\n",
        k, n, rows, median(alone), median(dealt), pool.threads(), median(dispatch),
        100 * median(alone) / median(dispatch), 100 * median(dealt) / median(dispatch));
  }
}

}  // namespace

int main(int count, char** words) {
  const std::size_t ring = static_cast<std::size_t>(count > 1 ? std::atol(words[1]) : 512) << 20;
  const int rounds = count > 2 ? std::atoi(words[2]) : 9;
  ThreadPool pool(std::thread::hardware_concurrency(), ThreadPool::Placement::kPinned);
  compare(pool, 1536, 2048, ring, rounds);   // q+k+v of Qwen2.5-1.5B
  compare(pool, 1536, 17920, ring, rounds);  // gate+up
  compare(pool, 4096, 6144, ring, rounds);   // q+k+v of Qwen3-8B
}
