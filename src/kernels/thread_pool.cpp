#include "kernels/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <chrono>

namespace tare::kernels {
namespace {

// Longer than the gap between two dispatches of a region, far shorter than the wait for quiet
// between two regions.
constexpr std::chrono::microseconds kWatch{100};

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Returns once `value` is no longer `old`: watches it for kWatch, then sleeps.
void await_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + kWatch;
  do {
    for (int look = 0; look < 64; ++look) {
      if (value.load(std::memory_order_acquire) != old) return;
      relax();
    }
  } while (Clock::now() < until);
  value.wait(old, std::memory_order_acquire);
}

std::vector<int> allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> allowed;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return allowed;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) allowed.push_back(cpu);
  return allowed;
}

// Best effort: a thread that cannot be pinned runs where the kernel puts it.
void pin(pthread_t thread, int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  pthread_setaffinity_np(thread, sizeof set, &set);
}

}  // namespace

ThreadPool::ThreadPool(std::uint32_t threads, Placement placement) {
  workers_.reserve(threads);
  for (std::uint32_t index = 1; index < threads; ++index) {
    workers_.emplace_back([this, index] { work(index); });
  }
  if (placement == Placement::kPinned) pin_all();
}

void ThreadPool::pin_all() {
  const std::vector<int> allowed = allowed_processors();
  if (allowed.size() < threads() || workers_.empty()) return;
  pin(pthread_self(), allowed[0]);
  for (std::size_t i = 0; i < workers_.size(); ++i)
    pin(workers_[i].native_handle(), allowed[i + 1]);
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  posted_.fetch_add(1);
  posted_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void ThreadPool::run_erased(Function function, const void* context) {
  function_ = function;
  context_ = context;
  unfinished_.store(static_cast<std::uint32_t>(workers_.size()), std::memory_order_relaxed);
  posted_.fetch_add(1);  // sequentially consistent: notify must see a worker that is about to sleep
  posted_.notify_all();
  function(context, 0);
  for (auto left = unfinished_.load(std::memory_order_acquire); left != 0;
       left = unfinished_.load(std::memory_order_acquire)) {
    await_change(unfinished_, left);
  }
}

void ThreadPool::work(std::uint32_t index) {
  for (std::uint32_t seen = 0;; ++seen) {
    await_change(posted_, seen);
    if (stop_) return;
    function_(context_, index);
    unfinished_.fetch_sub(1);
    unfinished_.notify_one();
  }
}

}  // namespace tare::kernels
