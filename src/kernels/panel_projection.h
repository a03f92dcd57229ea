// The panel kernel as an executor: packed weights of a ring of slots, a path, a pool, and scratch
// made once.
#pragma once

#include <cstdint>

#include "kernels/cpu/paths.h"
#include "kernels/packing.h"
#include "kernels/slot_memory.h"
#include "kernels/sum_order.h"
#include "kernels/thread_pool.h"

namespace tare::kernels {

// y[rows, n] = x[rows, k] . W[n, k]^T, x and y bf16, W of the shape's type, f32 sums. `path` is of
// that type. Not thread safe: one caller at a time,
// which takes part in the pool's work.
class PanelProjection {
 public:
  // Throws tare::Error (Blame::kMachine) when memory runs out, here and in bind() and set_rows().
  PanelProjection(PackedShape shape, SumOrder order, std::uint32_t rows, std::uint32_t slots,
                  const PanelPath& path, ThreadPool& pool, Memory memory);

  void bind(std::uint32_t slot, const void* weights);  // packs W[n, k]; again to replace it
  void set_rows(std::uint32_t rows);                   // packed weights serve every row count
  void set_rows(std::uint32_t rows, SumOrder order);   // and every order
  void run(std::uint32_t slot, const Bf16* x,
           Bf16* y);  // returns when y is written; does not allocate

  SumOrder order() const { return order_; }
  const PanelPath& path() const { return path_; }
  std::uint32_t threads() const { return pool_.threads(); }

 private:
  PackedShape shape_;
  SumOrder order_;
  std::uint32_t rows_ = 0;
  const PanelPath& path_;
  ThreadPool& pool_;
  SlotMemory memory_;
};

}  // namespace tare::kernels
