// Our grouped kernels, other modules' arms and the floors on quantised weights, interleaved,
// weights cold. Processor time with one thread (set OMP_NUM_THREADS=1), so that a busy machine
// disturbs little; see kernels_panel.cpp.
//
//   bench_kernels_grouped [ring MiB = 256] [rounds = 7] [filter = ""] [module ...]
//
// with a filter such as "q4_0 bf16-as-int8 4096x1024 8 " and modules such as
// lib/tare/modules/ggml.so.
//
// Bytes a second are those of weights, scales and biases; the ratio is to the fastest stream.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/cold_ring.h"
#include "formats/weight_format.h"
#include "kernels/cpu/limits.h"
#include "kernels/cpu/paths.h"
#include "kernels/grouped_packing.h"
#include "prove/generator.h"
#include "prove/weights.h"
#include "tare/arm.h"

namespace {

using namespace tare::kernels;

using tare::bench::median;
using tare::bench::on_huge_pages;

struct Arm {
  std::string name;
  std::function<void(std::size_t slot)> dispatch;
  std::vector<double> seconds;  // of a dispatch, one a round
};

double now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void time_once(Arm& arm, std::size_t slots) {
  arm.dispatch(slots - 1);
  const double start = now();
  for (std::size_t slot = 0; slot < slots; ++slot) arm.dispatch(slot);
  arm.seconds.push_back((now() - start) / static_cast<double>(slots));
}

void* allocate(std::size_t bytes) {
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  void* memory =
      std::aligned_alloc(bytes < kHuge ? 64 : kHuge, (bytes + kHuge - 1) / kHuge * kHuge);
  if (memory == nullptr) return nullptr;
  if (bytes >= kHuge) madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 0, bytes);
  return memory;
}

// All arms of a module, opened for one thread.
std::vector<const tare_arm*> arms_of(const std::string& path) {
  static const tare_services services{TARE_ARM_ABI, 1, allocate, std::free};
  std::vector<const tare_arm*> arms;
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    fmt::print(stderr, "{}\n", dlerror());
    return arms;
  }
  const auto entry =
      reinterpret_cast<const tare_arm* (*)(std::uint32_t)>(dlsym(module, TARE_ARM_ENTRY));
  char why[256] = "";
  for (std::uint32_t i = 0; const tare_arm* arm = entry(i); ++i)
    if (arm->open(&services, why, sizeof why) == 0) arms.push_back(arm);
  return arms;
}

// A foreign arm ready for one problem; all slots hold the same weights, at places of their own.
std::shared_ptr<tare_executor> prepared(const tare_arm& arm, const tare_problem& problem,
                                        std::uint32_t slots,
                                        const std::function<const void*(std::uint32_t)>& weights) {
  char why[256] = "";
  tare_executor* executor = nullptr;
  if (arm.supports(&problem, why, sizeof why) != 0) return nullptr;
  if (arm.prepare(&problem, slots, &executor, why, sizeof why) != 0) {
    fmt::print(stderr, "{}: {}\n", arm.name, why);
    return nullptr;
  }
  for (std::uint32_t slot = 0; slot < slots; ++slot)
    arm.bind(executor, slot, weights(slot), why, sizeof why);
  return {executor, arm.destroy};
}

struct Shape {
  std::uint64_t k, n;
};

void print(const std::vector<Arm>& arms, const std::string& title, double bytes,
           double operations) {
  double stream = 1e9, peak = 0;
  for (const Arm& arm : arms) {
    if (arm.name.starts_with("stream")) stream = std::min(stream, median(arm.seconds));
    if (arm.name.starts_with("peak")) peak = median(arm.seconds);
  }
  fmt::print("{}  stream {:.1f} us {:.1f} GB/s, peak {:.1f} us\n", title, stream * 1e6,
             bytes / stream / 1e9, peak * 1e6);
  for (const Arm& arm : arms) {
    if (arm.name.starts_with("stream") || arm.name.starts_with("peak")) continue;
    const double seconds = median(arm.seconds);
    const auto [low, high] = std::minmax_element(arm.seconds.begin(), arm.seconds.end());
    fmt::print(
        "  {:12} {:9.2f} us [{:.1f}, {:.1f}]  {:6.2f} GB/s  {:7.1f} GFLOP/s  of the limit "
        "{:5.3f}\n",
        arm.name, seconds * 1e6, *low * 1e6, *high * 1e6, bytes / seconds / 1e9,
        operations / seconds / 1e9, std::max(stream, peak) / seconds);
  }
  std::fflush(stdout);
}

void compare(const tare::formats::WeightFormat& format, std::uint32_t activations,
             const Shape& shape, const std::vector<std::uint32_t>& row_counts, std::size_t ring,
             int rounds, const std::vector<const tare_arm*>& others) {
  const GroupedShape packing = grouped_shape(format.type, activations, shape.k, shape.n);
  const std::uint64_t bytes = packing.bytes();
  const std::size_t slots = std::max<std::size_t>(4, ring / bytes);
  const tare::prove::WeightKey key{format.type, shape.k, shape.n, 1, 0};
  const std::uint64_t raw_bytes = (tare::prove::weight_buffer_bytes(key) + 63) / 64 * 64;
  const auto raw = on_huge_pages((others.empty() ? 1 : slots) * raw_bytes);
  tare::prove::generate_slot(key, raw.get());
  for (std::size_t slot = 1; slot < slots && !others.empty(); ++slot)
    std::memcpy(raw.get() + slot * raw_bytes, raw.get(), raw_bytes);
  const auto packed = on_huge_pages(slots * bytes);
  pack_grouped(packing, format.type, raw.get(), 0, packing.panels(), packed.get());
  for (std::size_t slot = 1; slot < slots; ++slot)
    std::memcpy(packed.get() + slot * bytes, packed.get(), bytes);
  std::vector<Bf16> x(32 * shape.k), y(32 * shape.n);
  tare::prove::generate_activations(1, 0, 0, x);
  std::atomic<std::uint64_t> consumed{0};
  for (const std::uint32_t rows : row_counts) {
    std::vector<Arm> arms;
    for (const GroupedPath* path : packing.rounds_x ? rounded_paths() : grouped_paths()) {
      if (std::string_view(path->name) == "portable") continue;
      const auto memory = on_huge_pages(path->scratch_bytes(packing, rows));
      arms.push_back({path->name,
                      [&, path, memory, rows](std::size_t slot) {
                        path->run({.shape = packing,
                                   .weights = packed.get() + slot * bytes,
                                   .x = x.data(),
                                   .y = y.data(),
                                   .scratch = memory.get(),
                                   .rows = rows,
                                   .last_panel = packing.panels()});
                      },
                      {}});
    }
    const tare_problem problem{shape.k,     shape.n,   rows,     format.type,
                               activations, TARE_BF16, TARE_F32, 0};
    for (const tare_arm* arm : others) {
      const auto executor =
          prepared(*arm, problem, static_cast<std::uint32_t>(slots),
                   [&](std::uint32_t slot) -> const void* { return raw.get() + slot * raw_bytes; });
      if (executor == nullptr) continue;
      arms.push_back({arm->name,
                      [&, arm, executor](std::size_t slot) {
                        arm->enqueue(executor.get(), static_cast<std::uint32_t>(slot), x.data(),
                                     y.data());
                        arm->fence(executor.get());
                      },
                      {}});
    }
    for (const auto& kernel : stream_kernels()) {
      if (!kernel.runs_here() || is_outclassed(kernel)) continue;
      arms.push_back(
          {std::string("stream ") + kernel.name,
           [&](std::size_t slot) { consumed += kernel.read(packed.get() + slot * bytes, bytes); },
           {}});
    }
    const PeakKernel& peak =
        fastest_peak(activations == TARE_BF16_AS_INT8 ? int8_peak_kernels() : peak_kernels());
    arms.push_back(
        {"peak",
         [&, rows](std::size_t) { consumed += peak.run(shape.k * shape.n * rows) > 0 ? 1 : 0; },
         {}});
    for (int round = 0; round < rounds; ++round)
      for (std::size_t i = 0; i < arms.size(); ++i)
        time_once(arms[(i + static_cast<std::size_t>(round)) % arms.size()], slots);
    print(arms,
          fmt::format("{} {} {}x{} rows {}", format.name, tare::formats::type_name(activations),
                      shape.k, shape.n, rows),
          tare::formats::weight_bytes(format.type, shape.k, shape.n),
          2. * static_cast<double>(shape.k * shape.n * rows));
  }
}

}  // namespace

int main(int count, char** words) {
  const std::size_t ring = (count > 1 ? std::stoul(words[1]) : 256) << 20;
  const int rounds = count > 2 ? std::stoi(words[2]) : 7;
  const std::string filter = count > 3 ? words[3] : "";
  std::vector<const tare_arm*> others;
  for (int i = 4; i < count; ++i)
    for (const tare_arm* arm : arms_of(words[i])) others.push_back(arm);
  for (const tare::formats::WeightFormat& format : tare::formats::weight_formats()) {
    for (const std::uint32_t activations :
         {std::uint32_t{TARE_BF16}, std::uint32_t{TARE_BF16_AS_INT8}}) {
      if (!is_grouped(format.type, activations)) continue;
      for (const Shape& shape : {Shape{1536, 1536}, Shape{4096, 1024}}) {
        std::vector<std::uint32_t> rows;
        for (const std::uint32_t one : {1u, 2u, 4u, 8u, 12u, 16u, 24u, 32u}) {
          if (fmt::format("{} {} {}x{} {} ", format.name, tare::formats::type_name(activations),
                          shape.k, shape.n, one)
                  .find(filter) != std::string::npos)
            rows.push_back(one);
        }
        if (!rows.empty()) compare(format, activations, shape, rows, ring, rounds, others);
      }
    }
  }
}
