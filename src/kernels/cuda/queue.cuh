// The queue that kernels of compute capability 9.0 stream weights through: one thread has the copy
// engine fill stages of shared memory, weights before the kernel in front has ended and x after;
// the other warps multiply what has arrived. What they multiply with is a kernel's own.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>

#include "kernels/cuda/ptx.cuh"
#include "kernels/cuda/queue_plan.h"
#include "kernels/cuda/sums.cuh"
#include "kernels/cuda/turn.cuh"

namespace tare::kernels::cuda {

// A launch's arguments. k has splits * folds parts, one for each thread block of a cluster or all
// for one.
struct QueueWork {
  CUtensorMap inputs;  // of input_map.h, where x passes through the queue
  const __nv_bfloat16* x;
  const unsigned char* weights;
  __nv_bfloat16* y;
  const __nv_bfloat16* bias;  // Outputs'
  std::uint64_t k, n;
  QueueOrder order;
  std::uint32_t rows, strips, strip_bytes;  // strips: of a thread block; bytes: of one's stage
  std::uint32_t pieces, splits, folds;      // along k: of a part, of a cluster, of a thread block
  std::uint32_t stages, depth;              // of a part; k of x in the queue's stage
  std::uint32_t consumers;                  // warps that multiply
  std::uint32_t rounds = 1;                 // parts that a thread block takes one after the other
  bool direct = false;                      // QueueShape's
  std::uint32_t asked = 0;  // stages, when the next dispatch's may start; 0: at once
  QueueLayout layout;

  __device__ std::uint32_t part_bytes() const { return strips * strip_bytes; }  // of a stage
};

struct Queue {
  unsigned char* shared;
  std::uint32_t address;  // of it
  const QueueLayout& layout;

  __device__ Queue(unsigned char* shared_, const QueueLayout& layout_)
      : shared(shared_), address(opaque_shared_address(shared_)), layout(layout_) {}
  // A stage's copies have arrived; everybody is done with it.
  __device__ std::uint32_t full(std::uint32_t place) const { return address + 8 * place; }
  __device__ std::uint32_t empty(std::uint32_t place) const {
    return full(kMostQueueStages + place);
  }
  // x is held.
  __device__ std::uint32_t held() const { return full(2 * kMostQueueStages); }
  // From `shared` or `address` on.
  __device__ std::uint32_t stage(std::uint32_t place) const {
    return layout.partials + place * layout.stage_pitch;
  }
};

// What the thread that fetches goes by. It is alone: every instruction between two copies is time
// in which memory may be idle, so that addresses move on by additions.
class Feeder {
 public:
  __device__ Feeder(const QueueWork& at, const Queue& queue) : at_(at), queue_(queue) {
    const std::uint32_t part = blockIdx.x % at.splits;
    const std::uint64_t first = at.order.place_of(0, part, blockIdx.x / at.splits * at.strips);
    weights_ = at.weights + first * at.strip_bytes;
    fold_bytes_ = at.order.strips * at.strip_bytes;
    stage_bytes_ = std::uint64_t{at.order.columns} * at.order.parts * fold_bytes_;
    part_bytes_ = at.part_bytes();
    expected_ = at.folds * part_bytes_ + at.rows * at.depth * 2;
    inputs_k_ = part * at.stages * at.depth;
    left_ = at.stages;
    to_next_part_ = fold_bytes_ - at.stages * stage_bytes_;
  }

  // Of the next stage; after a part's last comes the next one's first.
  __device__ void fetch_weights(std::uint32_t place) {
    const std::uint32_t full = queue_.full(place);
    std::uint32_t into = queue_.address + queue_.stage(place);
    arrive_expecting(full, expected_);
    const unsigned char* from = weights_;
    for (std::uint32_t fold = 0; fold < at_.folds; ++fold) {
      copy_bulk(into, from, part_bytes_, full);
      into += part_bytes_;
      from += fold_bytes_;
    }
    weights_ += stage_bytes_;
    if (--left_ > 0) return;
    weights_ += to_next_part_;
    left_ = at_.stages;
  }
  // Likewise. What is past the end of k arrives as zeros.
  __device__ void fetch_inputs(std::uint32_t place) {
    std::uint32_t box = queue_.address + queue_.stage(place) + at_.layout.inputs;
    for (std::uint32_t k = 0; k < at_.depth; k += kBoxDepth, box += at_.layout.box_pitch)
      copy_box(box, &at_.inputs, inputs_k_ + k, 0, queue_.full(place));
    inputs_k_ += at_.depth;
  }

 private:
  const QueueWork& at_;
  const Queue& queue_;
  const unsigned char* weights_;
  std::uint64_t stage_bytes_, to_next_part_;
  std::uint32_t fold_bytes_, part_bytes_, expected_, inputs_k_, left_;
};

// One thread.
__device__ inline void feed(const QueueWork& at, const Queue& queue) {
  Feeder feeder(at, queue);
  const std::uint32_t stages = at.stages * at.rounds, ahead = min(stages, at.layout.stages);
  for (std::uint32_t stage = 0; stage < ahead; ++stage) feeder.fetch_weights(stage);
  if (at.asked > 0 && at.asked <= ahead) let_successors_start();
  if (at.depth > 0) {
    prefetch_map(&at.inputs);
    wait_for_predecessors();
  }
  for (std::uint32_t stage = 0; stage < ahead; ++stage) feeder.fetch_inputs(stage);
  Turn turn;
  for (std::uint32_t stage = ahead; stage < stages; ++stage) {
    wait_for_barrier(queue.empty(turn.place), turn.parity);
    feeder.fetch_weights(turn.place);
    if (stage + 1 == at.asked) let_successors_start();
    feeder.fetch_inputs(turn.place);
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
  if (at.asked == 0) let_successors_start();
  ask_for_inputs(at.x, 2 * at.k * at.rows, 32 * at.consumers);
  if (at.splits > 1) arrive_at_cluster();
}

__device__ inline void forget_barriers(const QueueWork& at, const Queue& queue) {
  if (threadIdx.x < at.layout.stages) {
    invalidate_barrier(queue.full(threadIdx.x));
    invalidate_barrier(queue.empty(threadIdx.x));
  }
  if (threadIdx.x == 0) invalidate_barrier(queue.held());
}

__device__ inline Outputs outputs_of(const QueueWork& at, std::uint32_t width) {
  return {at.y,    at.bias, at.n,      std::uint64_t{blockIdx.x / at.splits} * width,
          at.rows, width,   at.pieces, at.splits,
          at.folds};
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
  forget_barriers(at, queue);
  __syncthreads();
  finish(outputs_of(at, width), blockIdx.x % at.splits, padded_rows, layout, queue.shared);
}

// The same where a warp has all of its part's sums: they go where they are needed from registers.
// `each` calls a function with (row, output of the thread block, sum) for all sums of a thread.
template <typename Each>
__device__ void end_queue_directly(const QueueWork& at, const Queue& queue, std::uint32_t width,
                                   Each&& each) {
  __syncwarp();
  const bool has_sums = threadIdx.x < 32 * at.consumers;
  finish_directly(outputs_of(at, width), blockIdx.x % at.splits,
                  reinterpret_cast<float*>(queue.shared + at.layout.inbox), has_sums, each);
  __syncthreads();
  forget_barriers(at, queue);
}

}  // namespace tare::kernels::cuda
