// The threads that run a product: OpenMP's, which are ggml's own.
#pragma once

#include <omp.h>

#include <cstdint>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace tare::llama {

// The thread sanitizer does not see how OpenMP's library orders its threads, since that is built
// without it: a team says so itself, at the beginning and at the end of a region.
struct OrderOfTeam {
#if defined(__SANITIZE_THREAD__)
  void before() {
    __tsan_release(this);
  }
  void after() {
    __tsan_acquire(this);
  }
#else
  void before() {}
  void after() {}
#endif
};

// ggml's CPU back end runs its graphs on OpenMP's threads, which spin for a while after each. A
// pool of our own would share the cores with them for that time (TRAPS T35); a region that the same
// thread opens with the same number of threads gets the very same ones.
class Team {
 public:
  explicit Team(std::uint32_t threads = 1) : threads_(threads) {}
  std::uint32_t threads() const { return threads_; }

  // Calls task(index, count) on each of `count` threads, at most threads(); returns when all are
  // done.
  template <typename Task>
  void run(const Task& task) const {
    OrderOfTeam start, end;
    start.before();
#pragma omp parallel num_threads(static_cast <int>(threads_))
    {
      start.after();
      task(static_cast<std::uint32_t>(omp_get_thread_num()),
           static_cast<std::uint32_t>(omp_get_num_threads()));
      end.before();
    }
    end.after();
  }

 private:
  std::uint32_t threads_;
};

}  // namespace tare::llama
