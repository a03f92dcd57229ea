// A cut of a projection on a ring of cold weights: its bits, and its time in a graph.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "formats/weight_format.h"
#include "kernels/cuda/cut.h"

namespace tare::bench {

using namespace tare::kernels::cuda;

constexpr std::size_t kRingBytes = std::size_t{1} << 30U;
constexpr int kDispatches = 48, kTurns = 3;

inline void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

__host__ __device__ inline std::uint32_t hash(std::uint32_t value) {
  value ^= value >> 16;
  value *= 0x7feb352dU;
  value ^= value >> 15;
  value *= 0x846ca68bU;
  return value ^ value >> 16;
}

static __global__ void fill(__nv_bfloat16* into, std::size_t count, std::uint32_t seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const std::uint32_t bits = hash(static_cast<std::uint32_t>(i) * 2654435761U + seed);
    into[i] = __float2bfloat16_rn((static_cast<float>(bits & 0xffff) - 32768.0F) / 32768.0F);
  }
}

struct Shape {
  std::uint32_t weights;
  std::uint64_t k, n;
};

// Codes of any bits, scales and biases of any value: a kernel's time does not depend on them.
static __global__ void fill_words(std::uint32_t* into, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    into[i] = hash(static_cast<std::uint32_t>(i) * 2654435761U);
}

class Trial {
 public:
  explicit Trial(Shape shape) : shape_(shape) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
    check(cudaEventCreate(&before_), "event");
    check(cudaEventCreate(&after_), "event");
    const auto& format = tare::formats::format_of(shape.weights);
    const auto layout = tare::formats::layout_of(format, shape.k, shape.n);
    check(cudaMalloc(&raw_, layout.total_bytes), "raw");
    check(cudaMalloc(&x_, 2 * shape.k * kMostCutRows), "x");
    check(cudaMalloc(&y_, 2 * shape.n * kMostCutRows), "y");
    check(cudaMalloc(&ring_, kRingBytes + (std::size_t{256} << 20U)), "ring");
    fill<<<1024, 256, 0, stream_>>>(static_cast<__nv_bfloat16*>(raw_), layout.total_bytes / 2, 1);
    if (format.family != tare::formats::Family::kPlain)
      fill_words<<<1024, 256, 0, stream_>>>(static_cast<std::uint32_t*>(raw_),
                                            layout.code_row * shape.n / 4);
    fill<<<1024, 256, 0, stream_>>>(static_cast<__nv_bfloat16*>(x_), shape.k * kMostCutRows, 2);
    check(cudaStreamSynchronize(stream_), "data");
  }
  ~Trial() {
    for (void* memory : {raw_, x_, y_, ring_}) cudaFree(memory);
    cudaStreamDestroy(stream_);
  }

  // Every slot of the ring holds the same weights, packed: distinct addresses are what makes them
  // cold.
  bool prepare(const CutPlan& plan) {
    if (cut_prepare(plan) != cudaSuccess) {
      cudaGetLastError();
      return false;
    }
    slots_ = std::max<std::size_t>(2, (kRingBytes + weight_bytes(plan) - 1) / weight_bytes(plan));
    check(cut_pack(plan, raw_, ring_, stream_), "pack");
    for (std::size_t slot = 1; slot < slots_; ++slot)
      check(cudaMemcpyAsync(at(plan, slot), ring_, weight_bytes(plan), cudaMemcpyDeviceToDevice,
                            stream_),
            "copy");
    check(cudaStreamSynchronize(stream_), "pack");
    return true;
  }

  std::vector<std::uint16_t> bits(const CutPlan& plan, std::uint32_t rows) {
    check(cudaMemsetAsync(y_, 0xff, 2 * shape_.n * rows, stream_), "poison");
    check(cut_run(plan, rows, ring_, x_, y_, {false, stream_}), "run");
    std::vector<std::uint16_t> bits(shape_.n * rows);
    check(cudaMemcpyAsync(bits.data(), y_, 2 * bits.size(), cudaMemcpyDeviceToHost, stream_), "y");
    check(cudaStreamSynchronize(stream_), "run");
    return bits;
  }

  // Microseconds of one dispatch, the least of some turns of a graph over the cold ring.
  double time(const CutPlan& plan, std::uint32_t rows, bool programmatic) {
    double least = HUGE_VAL;
    for (int turn = 0; turn < kTurns; ++turn) {
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t ready = nullptr;
      check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capture");
      for (int i = 0; i < kDispatches; ++i)
        check(cut_run(plan, rows, at(plan, cursor_++ % slots_), x_, y_, {programmatic, stream_}),
              "run");
      check(cudaStreamEndCapture(stream_, &graph), "capture");
      check(cudaGraphInstantiate(&ready, graph, 0), "instantiate");
      check(cudaGraphUpload(ready, stream_), "upload");
      check(cudaEventRecord(before_, stream_), "event");
      check(cudaGraphLaunch(ready, stream_), "launch");
      check(cudaEventRecord(after_, stream_), "event");
      check(cudaStreamSynchronize(stream_), "sync");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, before_, after_), "elapsed");
      least = std::min(least, 1e3 * static_cast<double>(milliseconds) / kDispatches);
      cudaGraphExecDestroy(ready);
      cudaGraphDestroy(graph);
    }
    return least;
  }

 private:
  std::byte* at(const CutPlan& plan, std::size_t slot) const {
    return static_cast<std::byte*>(ring_) + slot * weight_bytes(plan);
  }

  Shape shape_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t before_ = nullptr, after_ = nullptr;
  void *raw_ = nullptr, *x_ = nullptr, *y_ = nullptr, *ring_ = nullptr;
  std::size_t slots_ = 0, cursor_ = 0;
};

}  // namespace tare::bench
