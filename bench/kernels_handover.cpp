// What handing a dispatch to the threads costs: an empty task, and reading 768 KiB (1536x256 in
// bf16) dispatch by dispatch against reading all slots without waiting for each other. Deciles are
// printed: on a busy machine trust the lower ones.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "kernels/cpu/limits.h"
#include "kernels/thread_pool.h"

namespace {

using namespace tare::kernels;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kSlot = 768 << 10;
constexpr std::size_t kSlots = 1024;
constexpr std::size_t kBatch = 64;  // dispatches timed together

template <typename Work>
void report(const char* name, int samples, double dispatches, const Work& work) {
  std::vector<double> microseconds;
  for (int i = 0; i < samples; ++i) {
    const auto start = Clock::now();
    work(i);
    microseconds.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() /
                           dispatches);
  }
  std::sort(microseconds.begin(), microseconds.end());
  fmt::print("{:34} us a dispatch:", name);
  for (const int tenth : {0, 1, 2, 5, 9}) {
    fmt::print("  {}0 % {:.3f}", tenth,
               microseconds[microseconds.size() * static_cast<std::size_t>(tenth) / 10]);
  }
  fmt::print("\n");
}

}  // namespace

int main() {
  ThreadPool pool(std::thread::hardware_concurrency());
  report("empty task", 2000, 100, [&](int) {
    for (int i = 0; i < 100; ++i) pool.run([](std::uint32_t) {});
  });

  auto* ring = static_cast<std::byte*>(std::aligned_alloc(2 << 20, kSlot * kSlots));
  madvise(ring, kSlot * kSlots, MADV_HUGEPAGE);
  std::memset(ring, 1, kSlot * kSlots);
  const StreamKernel* kernel = nullptr;
  for (const auto& one : stream_kernels()) {
    if (kernel == nullptr && one.runs_here()) kernel = &one;
  }
  std::atomic<std::uint64_t> consumed{0};
  const auto part = [&](std::size_t slot, std::uint32_t thread) {
    const Slice lines = slice_of(kSlot / 64, pool.threads(), thread);
    consumed +=
        kernel->read(ring + slot * kSlot + lines.first * 64, (lines.last - lines.first) * 64);
  };
  const auto first = [](int sample) { return static_cast<std::size_t>(sample) * kBatch % kSlots; };
  for (int turn = 0; turn < 2; ++turn) {
    report("768 KiB, one dispatch at a time", 160, kBatch, [&](int sample) {
      for (std::size_t i = 0; i < kBatch; ++i) {
        pool.run([&](std::uint32_t thread) { part(first(sample) + i, thread); });
      }
    });
    report("768 KiB, threads run ahead", 160, kBatch, [&](int sample) {
      pool.run([&](std::uint32_t thread) {
        for (std::size_t i = 0; i < kBatch; ++i) part(first(sample) + i, thread);
      });
    });
  }
  std::free(ring);
}
