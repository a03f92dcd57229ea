// The threads that run a product: OpenMP's, which are ggml's own.
#pragma once

#include <omp.h>

#include <cstdint>

namespace tare::llama {

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
#pragma omp parallel num_threads(static_cast <int>(threads_))
    task(static_cast<std::uint32_t>(omp_get_thread_num()),
         static_cast<std::uint32_t>(omp_get_num_threads()));
  }

 private:
  std::uint32_t threads_;
};

}  // namespace tare::llama
