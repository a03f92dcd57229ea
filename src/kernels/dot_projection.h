// The dot kernel as an executor: packed weights of a ring of slots, and a pool.
#pragma once

#include <cstdint>

#include "kernels/dot.h"
#include "kernels/slot_memory.h"
#include "kernels/thread_pool.h"

namespace tare::kernels {

// y[rows, n] = x[rows, k] . W[n, k]^T (+ bias) in bf16 with f32 sums. Not thread safe: one caller
// at a time, which takes part in the pool's work.
class DotProjection {
 public:
  // `kernel`: of dot_kernel(), and not null. Throws tare::Error (Blame::kMachine) when memory runs
  // out, in bind().
  DotProjection(DotShape shape, std::uint32_t rows, std::uint32_t slots, DotKernel kernel,
                ThreadPool& pool, Memory memory);

  void bind(std::uint32_t slot, const Bf16* weights);    // packs W[n, k], and the bias behind it
  void set_rows(std::uint32_t rows) { rows_ = rows; }    // packed weights serve every row count
  void run(std::uint32_t slot, const Bf16* x, Bf16* y);  // returns when y is written

  std::uint32_t threads() const { return pool_.threads(); }

 private:
  DotShape shape_;
  std::uint32_t rows_;
  DotKernel kernel_;
  ThreadPool& pool_;
  SlotMemory memory_;
};

}  // namespace tare::kernels
