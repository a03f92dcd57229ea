// The queue that kernels of compute capability 9.0 stream weights through: one thread has the copy
// engine fill stages of shared memory, weights before the kernel in front has ended and x after;
// the other warps multiply what has arrived. What they multiply with is a kernel's own.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>

#include "kernels/cuda/ptx.cuh"
#include "kernels/cuda/queue_plan.h"
#include "kernels/cuda/sums.cuh"

namespace tare::kernels::cuda {

// A launch's arguments. k has splits * folds parts, one for each thread block of a cluster or all
// for one.
struct QueueWork {
  CUtensorMap inputs;      // of input_map.h, where x passes through the queue
  const __nv_bfloat16* x;  // where it is held
  const unsigned char* weights;
  __nv_bfloat16* y;
  std::uint64_t k, n;
  QueueOrder order;
  std::uint32_t rows, strips, strip_bytes;  // strips: of a thread block; bytes: of one's stage
  std::uint32_t pieces, splits, folds;      // along k: of a part, of a cluster, of a thread block
  std::uint32_t stages, depth;              // of a part; k of x in the queue's stage
  std::uint32_t consumers;                  // warps that multiply
  QueueLayout layout;

  __device__ std::uint32_t part_bytes() const { return strips * strip_bytes; }  // of a stage
};

struct Queue {
  unsigned char* shared;
  const QueueLayout& layout;
  // A stage's copies have arrived; everybody is done with it.
  __device__ std::uint64_t* full(std::uint32_t place) const {
    return reinterpret_cast<std::uint64_t*>(shared) + place;
  }
  __device__ std::uint64_t* empty(std::uint32_t place) const {
    return full(kMostQueueStages + place);
  }
  // x is held.
  __device__ std::uint64_t* held() const { return full(2 * kMostQueueStages); }
  __device__ unsigned char* stage(std::uint32_t place) const {
    return shared + layout.partials + place * layout.stage_pitch;
  }
};

// Where a warp that multiplies has got to.
struct Turn {
  std::uint32_t place = 0, parity = 0;
  __device__ void next(std::uint32_t places) {
    if (++place < places) return;
    place = 0;
    parity ^= 1;
  }
};

__device__ inline void fetch_weights(const QueueWork& at, const Queue& queue, std::uint32_t stage,
                                     std::uint32_t place) {
  const std::uint32_t strip = blockIdx.x / at.splits * at.strips, bytes = at.part_bytes();
  arrive_expecting(queue.full(place), at.folds * bytes + at.rows * at.depth * 2);
  for (std::uint32_t fold = 0; fold < at.folds; ++fold)
    copy_bulk(queue.stage(place) + fold * bytes,
              at.weights +
                  at.order.place_of(stage, blockIdx.x % at.splits + fold, strip) * at.strip_bytes,
              bytes, queue.full(place));
}

__device__ inline void fetch_inputs(const QueueWork& at, const Queue& queue, std::uint32_t stage,
                                    std::uint32_t place) {
  const std::uint32_t first_k = (blockIdx.x % at.splits * at.stages + stage) * at.depth;
  unsigned char* box = queue.stage(place) + at.layout.inputs;
  for (std::uint32_t k = 0; k < at.depth; k += kBoxDepth, box += at.layout.box_pitch)
    copy_box(box, &at.inputs, first_k + k, 0, queue.full(place));
}

// One thread. What is past the end of k arrives as zeros.
__device__ inline void feed(const QueueWork& at, const Queue& queue) {
  const std::uint32_t ahead = min(at.stages, at.layout.stages);
  for (std::uint32_t stage = 0; stage < ahead; ++stage) fetch_weights(at, queue, stage, stage);
  if (at.depth > 0) {
    prefetch_map(&at.inputs);
    wait_for_predecessors();
  }
  for (std::uint32_t stage = 0; stage < ahead; ++stage) fetch_inputs(at, queue, stage, stage);
  Turn turn;
  for (std::uint32_t stage = ahead; stage < at.stages; ++stage) {
    wait_for_barrier(queue.empty(turn.place), turn.parity);
    fetch_weights(at, queue, stage, turn.place);
    fetch_inputs(at, queue, stage, turn.place);
    turn.next(at.layout.stages);
  }
}

// `releases`: how many arrivals say that everybody is done with a stage.
__device__ inline void begin_queue(const QueueWork& at, const Queue& queue,
                                   std::uint32_t releases) {
  if (threadIdx.x < at.layout.stages) {
    init_barrier(queue.full(threadIdx.x), 1);
    init_barrier(queue.empty(threadIdx.x), releases);
  }
  if (threadIdx.x == 0) init_barrier(queue.held(), 32 * at.consumers);
  publish_barriers();
  __syncthreads();
  let_successors_start();
  if (at.splits > 1) arrive_at_cluster();
}

// Adds everything up and writes y. `store` puts a warp's sums into its place of the partial ones,
// [piece][row, padded to 8][output].
template <typename Store>
__device__ void end_queue(const QueueWork& at, const Queue& queue, std::uint32_t width,
                          std::uint32_t padded_rows, Store&& store) {
  __syncwarp();     // the thread that fed comes from another branch than its warp
  __syncthreads();  // the queue has run dry: partial sums take its place
  const SumsLayout layout{at.layout.partials, at.layout.partial_pitch, at.layout.inbox};
  if (threadIdx.x < 32 * at.consumers)
    store(reinterpret_cast<float*>(queue.shared + layout.partials), layout.partial_pitch);
  if (threadIdx.x < at.layout.stages) {
    invalidate_barrier(queue.full(threadIdx.x));
    invalidate_barrier(queue.empty(threadIdx.x));
  }
  if (threadIdx.x == 0) invalidate_barrier(queue.held());
  __syncthreads();
  const std::uint32_t rank = blockIdx.x % at.splits, column_block = blockIdx.x / at.splits;
  finish({at.y, at.n, std::uint64_t{column_block} * width, at.rows, width, at.pieces, at.splits,
          at.folds},
         rank, padded_rows, layout, queue.shared);
}

}  // namespace tare::kernels::cuda
