// The panel kernel as an executor: packed weights of a ring of slots, a path, a pool, and scratch
// made once.
#pragma once

#include <cstdint>

#include "kernels/cpu/paths.h"
#include "kernels/cpu/support.h"
#include "kernels/packing.h"
#include "kernels/slot_memory.h"
#include "kernels/sum_order.h"
#include "kernels/thread_pool.h"

namespace tare::kernels {

// A task that adds in this order, its other fields to be filled in; `order` must outlive it.
inline PanelTask task_in(const SumOrder& order, std::uint32_t weights = TARE_BF16) {
  PanelTask task;
  task.chunk_pairs = weights == TARE_BF16 ? order.chunk / 2 : order.chunk;
  task.lanes = order.lanes;
  task.keeps_subnormals = order.keeps_subnormals;
  task.fold = order.fold.data();
  return task;
}

// y[rows, n] = x[rows, k] . W[n, k]^T (+ bias), x and y bf16 (or both f32), W of the shape's type,
// f32 sums. `path` is of that type. Not thread safe: one caller at a time, which takes part in the
// pool's work.
class PanelProjection {
 public:
  // Throws tare::Error (Blame::kMachine) when memory runs out, here and in bind() and set_rows().
  PanelProjection(PackedShape shape, SumOrder order, std::uint32_t rows, std::uint32_t slots,
                  const PanelPath& path, ThreadPool& pool, Memory memory);

  void bind(std::uint32_t slot,
            const void* weights);     // packs W[n, k], and the bias behind it; again to replace
  void set_rows(std::uint32_t rows);  // packed weights serve every row count
  void set_rows(std::uint32_t rows, SumOrder order);  // and every order with the same even_first
  void run(std::uint32_t slot, const Bf16* x,
           Bf16* y);  // returns when y is written; does not allocate
  // The same of f32 activations, the sums unrounded; of f16 and f32 weights.
  void run(std::uint32_t slot, const float* x, float* y);

  // Where weights are prefetched to: best_keep() until it is set. Bits do not depend on it.
  void set_keep(Keep keep) { keep_ = keep; }

  SumOrder order() const { return order_; }
  const PanelPath& path() const { return path_; }
  std::uint32_t threads() const { return pool_.threads(); }

 private:
  // `fill` says where x and y of a thread's task are.
  template <typename Fill>
  void run_with(std::uint32_t slot, const Fill& fill);
  const Bf16* swapped(const Bf16* x, std::uint32_t thread) const;

  PackedShape shape_;
  SumOrder order_;
  std::uint32_t rows_ = 0;
  Keep keep_ = best_keep();
  const PanelPath& path_;
  ThreadPool& pool_;
  SlotMemory memory_;
};

}  // namespace tare::kernels
