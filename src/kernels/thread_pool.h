// A pool for one dispatch at a time: cheap to hand work to while it is busy, asleep soon after it
// is not.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace tare::kernels {

// threads - 1 workers beside the calling thread, which takes part. A worker that has finished
// watches for the next task for kWatch and then sleeps in the kernel, so that a pool left alone
// disturbs nobody (TRAPS T35). Which thread gets which index is fixed, so a static partition gives
// each thread the same outputs in every run. run() is for one thread at a time. Nothing here
// allocates after construction.
class ThreadPool {
 public:
  // Where threads run. kPinned: thread i, the caller among them, stays on the i-th processor that
  // the caller may use, as OMP_PROC_BIND=true does for OpenMP. Without it the kernel was seen to
  // leave both threads of a pool on one of two processors for whole regions: each hand-over then
  // waits for the scheduler, 208 us instead of 0.3 us, in about one region of ten.
  enum class Placement { kFree, kPinned };

  explicit ThreadPool(std::uint32_t threads, Placement placement = Placement::kFree);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::uint32_t threads() const { return static_cast<std::uint32_t>(workers_.size()) + 1; }

  // Calls task(index) once for every index in [0, threads()), the caller doing index 0. Returns
  // when all are done and their writes are visible. The task must not throw.
  template <typename Task>
  void run(const Task& task) {
    static_assert(std::is_invocable_v<const Task&, std::uint32_t>,
                  "a task takes its thread's index");
    run_erased([](const void* context,
                  std::uint32_t index) { (*static_cast<const Task*>(context))(index); },
               &task);
  }

 private:
  using Function = void (*)(const void* context, std::uint32_t index);

  void run_erased(Function function, const void* context);
  void work(std::uint32_t index);
  void pin_all();

  // What the caller writes and what the workers write lie on cache lines of their own.
  alignas(64) std::atomic<std::uint32_t> posted_{0};  // counts tasks; a change is the signal
  Function function_ = nullptr;
  const void* context_ = nullptr;
  bool stop_ = false;
  alignas(64) std::atomic<std::uint32_t> unfinished_{0};  // workers still at the current task
  alignas(64) std::vector<std::thread> workers_;
};

// The part of [0, count) that belongs to `index` of `parts`: contiguous, sizes differing by one at
// most.
struct Slice {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
inline Slice slice_of(std::uint64_t count, std::uint32_t parts, std::uint32_t index) {
  const std::uint64_t each = count / parts;
  const std::uint64_t left = count % parts;
  const std::uint64_t before = index < left ? index : left;
  const std::uint64_t first = each * index + before;
  return {first, first + each + (index < left ? 1 : 0)};
}

}  // namespace tare::kernels
