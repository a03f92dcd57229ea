// A cut of a projection on a ring of cold weights: its bits, and its time in a graph.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/cuda_clock.cuh"
#include "formats/weight_format.h"
#include "kernels/cuda/cut.h"

namespace tare::bench {

using namespace tare::kernels::cuda;

constexpr std::size_t kRingBytes = std::size_t{1} << 30U;
constexpr int kDispatches = 48, kTurns = 3;

__host__ __device__ inline std::uint32_t hash(std::uint32_t value) {
  value ^= value >> 16;
  value *= 0x7feb352dU;
  value ^= value >> 15;
  value *= 0x846ca68bU;
  return value ^ value >> 16;
}

// Below `largest`, no two alike nearby: data decides what a chip draws, and so its clock.
static __global__ void fill(__nv_bfloat16* into, std::size_t count, std::uint32_t seed,
                            float largest = 1.0F) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const std::uint32_t bits = hash(static_cast<std::uint32_t>(i) * 2654435761U + seed);
    into[i] =
        __float2bfloat16_rn((static_cast<float>(bits & 0xffff) - 32768.0F) / 32768.0F * largest);
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

// Memory for cold weights of a shape, in slots of one size after the other; activations, and room
// for outputs. As in tare headroom some of both take turns: one x would always be in L2, and
// 1536x8960 with 32 rows was 8 % faster for it than in a table (docs/kernels/cuda-plans.md).
class ColdRing {
 public:
  explicit ColdRing(const Shape& shape)
      : x_bytes_(2 * shape.k * kMostCutRows), y_bytes_(2 * shape.n * kMostCutRows) {
    check(cudaMalloc(&ring_, kBytes), "ring");
    check(cudaMalloc(&x_, kInputs * x_bytes_), "x");
    check(cudaMalloc(&y_, kOutputs * y_bytes_), "y");
    fill<<<1024, 256, 0, clock_.stream()>>>(static_cast<__nv_bfloat16*>(x_), kInputs * x_bytes_ / 2,
                                            2);
  }
  ~ColdRing() {
    for (void* memory : {ring_, x_, y_}) cudaFree(memory);
  }
  ColdRing(const ColdRing&) = delete;
  ColdRing& operator=(const ColdRing&) = delete;

  static constexpr std::size_t kBytes = kRingBytes + (std::size_t{256} << 20U);
  static std::size_t slots(std::size_t slot_bytes) {
    return std::max<std::size_t>(2, (kRingBytes + slot_bytes - 1) / slot_bytes);
  }
  // Of slots of so many bytes; beyond the last one from the first on again.
  void* slot(std::size_t slot_bytes, std::size_t index) const {
    return static_cast<std::byte*>(ring_) + index % slots(slot_bytes) * slot_bytes;
  }
  void* x(std::size_t index = 0) const {
    return static_cast<std::byte*>(x_) + index % kInputs * x_bytes_;
  }
  void* y(std::size_t index = 0) const {
    return static_cast<std::byte*>(y_) + index % kOutputs * y_bytes_;
  }
  GraphClock& clock() { return clock_; }
  cudaStream_t stream() const { return clock_.stream(); }

 private:
  static constexpr std::size_t kInputs = 8, kOutputs = 20;

  GraphClock clock_;
  std::size_t x_bytes_, y_bytes_;
  void *ring_ = nullptr, *x_ = nullptr, *y_ = nullptr;
};

class Trial {
 public:
  explicit Trial(Shape shape) : shape_(shape), ring_(shape) {
    const auto& format = tare::formats::format_of(shape.weights);
    const auto layout = tare::formats::layout_of(format, shape.k, shape.n);
    check(cudaMalloc(&raw_, layout.total_bytes), "raw");
    const cudaStream_t stream = ring_.stream();
    fill<<<1024, 256, 0, stream>>>(static_cast<__nv_bfloat16*>(raw_), layout.total_bytes / 2, 1);
    if (format.family != tare::formats::Family::kPlain)
      fill_words<<<1024, 256, 0, stream>>>(static_cast<std::uint32_t*>(raw_),
                                           layout.code_row * shape.n / 4);
    check(cudaStreamSynchronize(stream), "data");
  }
  ~Trial() { cudaFree(raw_); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // Every slot of the ring holds the same weights, packed: distinct addresses are what makes them
  // cold.
  bool prepare(const CutPlan& plan) {
    if (cut_prepare(plan) != cudaSuccess) {
      cudaGetLastError();
      return false;
    }
    const std::size_t bytes = weight_bytes(plan);
    check(cut_pack(plan, raw_, ring_.slot(bytes, 0), ring_.stream()), "pack");
    for (std::size_t slot = 1; slot < ColdRing::slots(bytes); ++slot)
      check(cudaMemcpyAsync(ring_.slot(bytes, slot), ring_.slot(bytes, 0), bytes,
                            cudaMemcpyDeviceToDevice, ring_.stream()),
            "copy");
    check(cudaStreamSynchronize(ring_.stream()), "pack");
    return true;
  }

  std::vector<std::uint16_t> bits(const CutPlan& plan, std::uint32_t rows) {
    const cudaStream_t stream = ring_.stream();
    check(cudaMemsetAsync(ring_.y(), 0xff, 2 * shape_.n * rows, stream), "poison");
    run(plan, rows, 0, false);
    std::vector<std::uint16_t> bits(shape_.n * rows);
    check(cudaMemcpyAsync(bits.data(), ring_.y(), 2 * bits.size(), cudaMemcpyDeviceToHost, stream),
          "y");
    check(cudaStreamSynchronize(stream), "run");
    return bits;
  }

  // Microseconds of one dispatch, the least of some turns of a graph over the cold ring.
  double time(const CutPlan& plan, std::uint32_t rows, bool programmatic) {
    double least = HUGE_VAL;
    for (int turn = 0; turn < kTurns; ++turn) {
      const std::vector<double> seconds = ring_.clock().times(1, [&] {
        for (int i = 0; i < kDispatches; ++i) run(plan, rows, cursor_++, programmatic);
      });
      least = std::min(least, 1e6 * seconds.front() / kDispatches);
    }
    return least;
  }

 private:
  void run(const CutPlan& plan, std::uint32_t rows, std::size_t slot, bool programmatic) {
    check(cut_run(plan, rows, ring_.slot(weight_bytes(plan), slot), ring_.x(slot), ring_.y(slot),
                  {programmatic, ring_.stream()}),
          "run");
  }

  Shape shape_;
  ColdRing ring_;
  void* raw_ = nullptr;
  std::size_t cursor_ = 0;
};

}  // namespace tare::bench
