// The grouped kernel as an executor: packed quantised weights of a ring of slots, a path, a pool,
// and scratch made once.
#pragma once

#include <cstdint>

#include "kernels/cpu/grouped_task.h"
#include "kernels/slot_memory.h"
#include "kernels/thread_pool.h"

namespace tare::kernels {

// y[rows, n] = x[rows, k] . W[n, k]^T (+ bias) of bf16 x, perhaps rounded to 8 bits, and quantised
// W, f32 sums, bf16 y. Not thread safe: one caller at a time, which takes part in the pool's work.
class GroupedProjection {
 public:
  // `type`: of W, `shape`: of grouped_shape(). `path`: of grouped_paths(), or where the shape says
  // that x is rounded of rounded_paths(). Throws tare::Error (Blame::kMachine) when memory runs
  // out, here and in bind() and set_rows().
  GroupedProjection(std::uint32_t type, const GroupedShape& shape, std::uint32_t rows,
                    std::uint32_t slots, const GroupedPath& path, ThreadPool& pool, Memory memory);

  // Packs W[n, k], and the bias behind it; again to replace.
  void bind(std::uint32_t slot, const void* weights);
  void set_rows(std::uint32_t rows);  // packed weights serve every row count
  // Returns when y is written; does not allocate.
  void run(std::uint32_t slot, const Bf16* x, Bf16* y);

  const GroupedShape& shape() const { return shape_; }
  const GroupedPath& path() const { return path_; }
  std::uint32_t threads() const { return pool_.threads(); }

 private:
  std::uint32_t type_;
  GroupedShape shape_;
  std::uint32_t rows_ = 0;
  const GroupedPath& path_;
  ThreadPool& pool_;
  SlotMemory memory_;
};

}  // namespace tare::kernels
