// Our panel kernels, oneDNN's matmul and the floors on the same shapes, interleaved, weights cold.
//
//   bench_kernels_panel [ring MiB = 1024] [rounds = 7] [filter, e.g. "4096x1024 8"] [threads = all]
//
// With one thread (and OMP_NUM_THREADS=1) processor time is counted instead of wall time, so that a
// busy machine disturbs little. Each round runs every arm once, in turned order, through its whole
// ring; printed are the median time of a dispatch, and the medians of the ratios within rounds to
// oneDNN and to the slower of the floors. This is a workbench for the kernels, not a verdict: those
// are what `tare headroom` is for.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/cold_ring.h"
#include "kernels/cpu/limits.h"
#include "kernels/cpu/paths.h"
#include "kernels/packing.h"
#include "kernels/sum_order.h"
#include "kernels/thread_pool.h"
#include "tests/kernels/onednn_projection.h"

namespace {

using namespace tare::kernels;

using tare::bench::median;
using tare::bench::on_huge_pages;

struct Arm {
  std::string name;
  std::function<void(std::size_t slot)> dispatch;
  std::vector<double> seconds;  // of a dispatch, one a round
};

double now(bool processor_time) {
  timespec time;
  clock_gettime(processor_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void time_once(Arm& arm, std::size_t slots, bool processor_time) {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // OpenMP workers and ours fall asleep
  arm.dispatch(slots - 1);                                    // and wake up outside the timed part
  const double start = now(processor_time);
  for (std::size_t slot = 0; slot < slots; ++slot) arm.dispatch(slot);
  arm.seconds.push_back((now(processor_time) - start) / static_cast<double>(slots));
}

struct Shape {
  std::uint64_t k, n;
};

void print(const std::vector<Arm>& arms, const Shape& shape, std::uint32_t rows) {
  const auto& reference = arms[0].seconds;
  fmt::print("{}x{} rows {}\n", shape.k, shape.n, rows);
  for (const auto& arm : arms) {
    std::vector<double> ratio;
    for (std::size_t i = 0; i < reference.size(); ++i)
      ratio.push_back(reference[i] / arm.seconds[i]);
    const double seconds = median(arm.seconds);
    const auto [low, high] = std::minmax_element(ratio.begin(), ratio.end());
    fmt::print(
        "  {:30} {:9.2f} us  {:6.2f} GB/s  {:7.1f} GFLOP/s  {} / it {:5.3f} [{:5.3f}, {:5.3f}]\n",
        arm.name, seconds * 1e6, static_cast<double>(shape.k * shape.n * 2) / seconds / 1e9,
        static_cast<double>(2 * shape.k * shape.n * rows) / seconds / 1e9, arms[0].name,
        median(ratio), *low, *high);
  }
  std::fflush(stdout);
}

void compare(const Shape& shape, const std::vector<std::uint32_t>& row_counts, std::size_t ring,
             int rounds, std::uint32_t threads) {
  const std::uint64_t bytes = shape.k * shape.n * 2;
  const std::size_t slots = std::max<std::size_t>(4, ring / bytes);
  std::mt19937 random(1);
  std::vector<Bf16> weights(shape.n * shape.k), x(32 * shape.k), y(32 * shape.n);
  const auto fill = [&](std::vector<Bf16>& values) {
    std::normal_distribution<float> bell;
    for (auto& one : values) one = narrow(bell(random));
  };
  fill(weights);
  fill(x);
  ThreadPool pool(threads);
  const auto theirs = on_huge_pages(slots * bytes);
  const auto packed = on_huge_pages(slots * bytes);  // shared by all paths
  const PackedShape packing{shape.k, shape.n};
  const auto at = [&](std::byte* base, std::size_t slot) { return base + slot * bytes; };
  std::size_t next = 0;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    pack_panels(packing, weights.data(), 0, packing.panels(),
                reinterpret_cast<Bf16Pair*>(at(packed.get(), slot)));
  }
  for (const std::uint32_t rows : row_counts) {
    OneDnnProjection onednn(shape.k, shape.n, rows);
    for (std::size_t slot = 0; slot < slots; ++slot)
      onednn.bind(weights.data(), at(theirs.get(), slot));
    std::vector<Arm> arms;
    arms.push_back({"oneDNN", [&](std::size_t slot) { onednn.run(slot, x.data(), y.data()); }, {}});
    for (const auto* path : panel_paths()) {
      if (std::string_view(path->name) == "portable") continue;
      const std::uint64_t stride =
          (path->scratch_bytes(packing.pairs(), rows, 1) + 4095) / 4096 * 4096;
      const auto memory = on_huge_pages(stride * pool.threads());
      arms.push_back({path->name,
                      [&, path, stride, memory, rows](std::size_t slot) {
                        pool.run([&](std::uint32_t thread) {
                          const Slice slice = slice_of(packing.panels(), pool.threads(), thread);
                          path->run({.weights = reinterpret_cast<Bf16Pair*>(at(packed.get(), slot)),
                                     .x = x.data(),
                                     .y = y.data(),
                                     .scratch = memory.get() + thread * stride,
                                     .k = shape.k,
                                     .n = shape.n,
                                     .rows = rows,
                                     .pairs = packing.pairs(),
                                     .chunk_pairs = onednn_order(shape.k).chunk / 2,
                                     .first_panel = slice.first,
                                     .last_panel = slice.last});
                        });
                      },
                      {}});
    }
    std::atomic<std::uint64_t> consumed{0};
    for (const auto& kernel : stream_kernels()) {
      if (!kernel.runs_here() ||
          std::string_view(kernel.name).find("avx512") == std::string_view::npos)
        continue;
      arms.push_back({std::string("stream ") + kernel.name,
                      [&](std::size_t slot) {
                        pool.run([&](std::uint32_t thread) {
                          const Slice lines = slice_of(bytes / 64, pool.threads(), thread);
                          consumed += kernel.read(at(packed.get(), slot) + lines.first * 64,
                                                  (lines.last - lines.first) * 64);
                        });
                      },
                      {}});
    }
    const PeakKernel& peak = fastest_peak(peak_kernels());
    arms.push_back({std::string("peak ") + peak.name,
                    [&](std::size_t) {
                      pool.run([&](std::uint32_t thread) {
                        const Slice slice =
                            slice_of(shape.k * shape.n * rows, pool.threads(), thread);
                        consumed += peak.run(slice.last - slice.first) > 0 ? 1 : 0;
                      });
                    },
                    {}});
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < arms.size(); ++i) {
        time_once(arms[(i + next) % arms.size()], slots, threads == 1);
      }
      ++next;
    }
    print(arms, shape, rows);
  }
}

}  // namespace

int main(int count, char** words) {
  const std::size_t ring = (count > 1 ? std::stoul(words[1]) : 1024) << 20;
  const int rounds = count > 2 ? std::stoi(words[2]) : 7;
  const std::string filter = count > 3 ? words[3] : "";
  const auto threads = count > 4 ? static_cast<std::uint32_t>(std::stoul(words[4]))
                                 : std::thread::hardware_concurrency();
  for (const Shape& shape :
       {Shape{1536, 1536}, Shape{1536, 256}, Shape{4096, 4096}, Shape{4096, 1024}}) {
    std::vector<std::uint32_t> rows;
    for (const std::uint32_t one : {1u, 2u, 4u, 6u, 8u, 10u, 12u, 16u, 20u, 24u, 32u}) {
      if (fmt::format("{}x{} {}", shape.k, shape.n, one).find(filter) != std::string::npos)
        rows.push_back(one);
    }
    if (!rows.empty()) compare(shape, rows, ring, rounds, threads);
  }
}
