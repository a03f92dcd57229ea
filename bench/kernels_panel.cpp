// Our panel kernels, oneDNN's matmul where it is installed, and the floors on the same shapes,
// interleaved, weights cold.
//
//   bench_kernels_panel [ring MiB = 512] [rounds = 7] [shapes = 1536x1536,...] [rows = 1,2,4-8,...]
//                       [threads = all]
//
// With one thread (and OMP_NUM_THREADS=1) processor time is counted instead of wall time, so that a
// busy machine disturbs little. Each round runs every arm once, in turned order, through its whole
// ring; printed are the median time of a dispatch, and the medians and extremes of the ratios
// within rounds to the first arm, oneDNN, and the medians of those to the limit: the slower of the
// floors. This is a workbench for the kernels, not a verdict: those are what `tare headroom` is
// for.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "bench/cold_ring.h"
#include "kernels/cpu/limits.h"
#include "kernels/cpu/paths.h"
#include "kernels/cpu/support.h"
#include "kernels/packing.h"
#include "kernels/sum_order.h"
#include "kernels/thread_pool.h"
#ifdef TARE_HAS_ONEDNN
#include "tests/kernels/onednn_projection.h"
#endif

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
  // OpenMP workers and ours fall asleep: GCC's watch for some 5 ms.
  std::this_thread::sleep_for(std::chrono::milliseconds(15));
  arm.dispatch(slots - 1);  // and wake up outside the timed part
  const double start = now(processor_time);
  for (std::size_t slot = 0; slot < slots; ++slot) arm.dispatch(slot);
  arm.seconds.push_back((now(processor_time) - start) / static_cast<double>(slots));
}

struct Shape {
  std::uint64_t k, n;
};

// The time that a round allows: of the faster stream, or of the peak.
std::vector<double> limits_of(const std::vector<Arm>& arms) {
  std::vector<double> limit;
  for (std::size_t i = 0; i < arms[0].seconds.size(); ++i) {
    double stream = std::numeric_limits<double>::infinity();
    double peak = 0;
    for (const Arm& arm : arms) {
      if (arm.name.starts_with("stream")) stream = std::min(stream, arm.seconds[i]);
      if (arm.name.starts_with("peak")) peak = arm.seconds[i];
    }
    limit.push_back(std::max(stream, peak));
  }
  return limit;
}

std::vector<double> ratios(const std::vector<double>& reference, const std::vector<double>& of) {
  std::vector<double> ratio;
  for (std::size_t i = 0; i < reference.size(); ++i) ratio.push_back(reference[i] / of[i]);
  return ratio;
}

void print(const std::vector<Arm>& arms, const Shape& shape, std::uint32_t rows) {
  const std::vector<double> limit = limits_of(arms);
  fmt::print("{}x{} rows {}\n", shape.k, shape.n, rows);
  for (const auto& arm : arms) {
    const std::vector<double> ratio = ratios(arms[0].seconds, arm.seconds);
    const double seconds = median(arm.seconds);
    const auto [low, high] = std::minmax_element(ratio.begin(), ratio.end());
    fmt::print(
        "  {:26} {:9.2f} us  {:6.2f} GB/s  {:7.1f} GFLOP/s  {} / it {:5.3f} [{:5.3f}, {:5.3f}]  "
        "limit / it {:5.3f}\n",
        arm.name, seconds * 1e6, static_cast<double>(shape.k * shape.n * 2) / seconds / 1e9,
        static_cast<double>(2 * shape.k * shape.n * rows) / seconds / 1e9, arms[0].name,
        median(ratio), *low, *high, median(ratios(limit, arm.seconds)));
  }
  std::fflush(stdout);
}

#ifdef TARE_HAS_ONEDNN
// Its threads are started before ours are pinned, the calling one among them: later ones would all
// be on its processor.
void start_openmp() {
  constexpr std::size_t kSmall = 64;
  OneDnnProjection small(kSmall, kSmall, 1);
  std::vector<Bf16> weights(kSmall * kSmall), x(kSmall), y(kSmall);
  std::vector<std::byte> packed(small.bytes());
  small.bind(weights.data(), packed.data());
  small.run(0, x.data(), y.data());
}

// oneDNN with packed weights of its own in every slot.
class OneDnnRing {
 public:
  OneDnnRing(const Shape& shape, std::size_t slots)
      : shape_(shape), slots_(slots), packed_(on_huge_pages(slots * shape.k * shape.n * 2)) {}
  void add_to(std::vector<Arm>& arms, std::uint32_t rows, const std::vector<Bf16>& weights,
              const std::vector<Bf16>& x, std::vector<Bf16>& y) const {
    const auto onednn = std::make_shared<OneDnnProjection>(shape_.k, shape_.n, rows);
    for (std::size_t slot = 0; slot < slots_; ++slot)
      onednn->bind(weights.data(), packed_.get() + slot * shape_.k * shape_.n * 2);
    arms.push_back({"oneDNN",
                    [onednn, &x, &y](std::size_t slot) { onednn->run(slot, x.data(), y.data()); },
                    {}});
  }

 private:
  Shape shape_;
  std::size_t slots_;
  std::shared_ptr<std::byte> packed_;
};
#else
void start_openmp() {}
class OneDnnRing {
 public:
  OneDnnRing(const Shape&, std::size_t) {}
  void add_to(std::vector<Arm>&, std::uint32_t, const std::vector<Bf16>&, const std::vector<Bf16>&,
              std::vector<Bf16>&) const {}
};
#endif

// Our paths that run here, but for plain C++.
std::vector<const PanelPath*> paths_here() {
  std::vector<const PanelPath*> all;
  if (has_amx_bf16()) all.push_back(&amx_panel_path());
  for (const PanelPath* path : panel_paths())
    if (std::string_view(path->name) != "portable") all.push_back(path);
  return all;
}

// Each of them, and the fastest once more with a bias.
struct Way {
  const PanelPath* path;
  bool biased = false;
};
std::vector<Way> ways() {
  std::vector<Way> all;
  for (const PanelPath* path : paths_here()) all.push_back({path});
  all.push_back({&choose_panel_path(""), true});
  return all;
}

void compare(const Shape& shape, const std::vector<std::uint32_t>& row_counts, std::size_t ring,
             int rounds, ThreadPool& pool) {
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
  const OneDnnRing onednn(shape, slots);
  const auto packed = on_huge_pages(slots * bytes);  // shared by all paths
  const PackedShape packing{shape.k, shape.n};
  const std::vector<float> bias(packing.panels() * kPanelOutputs, 1.0F);
  const auto at = [&](std::byte* base, std::size_t slot) { return base + slot * bytes; };
  std::size_t next = 0;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    pack_panels(packing, weights.data(), 0, packing.panels(), at(packed.get(), slot));
  }
  for (const std::uint32_t rows : row_counts) {
    std::vector<Arm> arms;
    onednn.add_to(arms, rows, weights, x, y);
    for (const auto& [path, biased] : ways()) {
      const float* const added = biased ? bias.data() : nullptr;
      const std::uint64_t stride =
          (path->scratch_bytes(packing.pairs(), rows, 1) + 4095) / 4096 * 4096;
      const auto memory = on_huge_pages(stride * pool.threads());
      arms.push_back({std::string(path->name) + (biased ? " + bias" : ""),
                      [&, path, stride, memory, rows, added](std::size_t slot) {
                        pool.run([&](std::uint32_t thread) {
                          const Slice slice = slice_of(packing.panels(), pool.threads(), thread);
                          path->run({.weights = at(packed.get(), slot),
                                     .x = x.data(),
                                     .y = y.data(),
                                     .bias = added,
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
        time_once(arms[(i + next) % arms.size()], slots, pool.threads() == 1);
      }
      ++next;
    }
    print(arms, shape, rows);
  }
}

// "1536x256"
Shape shape_named(const std::string& name) {
  const auto by = name.find('x');
  return {std::stoull(name.substr(0, by)), std::stoull(name.substr(by + 1))};
}

// "1-8,16"
std::vector<std::uint32_t> row_counts_named(const std::string& names) {
  std::vector<std::uint32_t> rows;
  std::istringstream ranges(names);
  for (std::string range; std::getline(ranges, range, ',');) {
    const auto dash = range.find('-');
    const auto first = static_cast<std::uint32_t>(std::stoul(range));
    const auto last = dash == std::string::npos
                          ? first
                          : static_cast<std::uint32_t>(std::stoul(range.substr(dash + 1)));
    for (std::uint32_t one = first; one <= last; ++one) rows.push_back(one);
  }
  return rows;
}

}  // namespace

int main(int count, char** words) {
  const auto word = [&](int at, const char* otherwise) {
    return std::string(count > at ? words[at] : otherwise);
  };
  const std::size_t ring = std::stoul(word(1, "512")) << 20;
  const int rounds = std::stoi(word(2, "7"));
  const auto rows = row_counts_named(word(4, "1,2,4,8,12,16,24,32"));
  const auto threads = static_cast<std::uint32_t>(count > 5 ? std::stoul(words[5])
                                                            : std::thread::hardware_concurrency());
  // One pool for all shapes: the calling thread is pinned from then on, and the threads of a second
  // one would be on its processor (1536x256 after 1536x1536 took 226 us, the peak as well).
  start_openmp();
  ThreadPool pool(threads, ThreadPool::Placement::kPinned);
  std::istringstream shapes(word(3, "1536x1536,1536x256,4096x4096,4096x1024"));
  for (std::string shape; std::getline(shapes, shape, ',');)
    compare(shape_named(shape), rows, ring, rounds, pool);
}
