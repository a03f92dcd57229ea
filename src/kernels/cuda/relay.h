// The relay kernel: a chain of projections in one launch, bf16, 1 to 8 rows, compute capability
// 9.0. One thread block a multiprocessor stays for the whole chain; its copy engine fetches the
// weights of what comes next while the others' sums of what came before are awaited, so that memory
// does not idle between projections.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/relay_plan.h"

namespace tare::kernels::cuda {

// y[rows, n] of each projection is the x of the next, of which that reads the first k columns:
// rounded to bf16 once. Not thread-safe.
class Relay {
 public:
  // Makes room on the device for everything but the weights and x.
  explicit Relay(std::vector<RelayStep> steps);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // The first error of cudaMalloc and the like; nothing else may be called after one.
  cudaError_t error() const { return error_; }
  const std::vector<RelayStep>& steps() const { return steps_; }
  std::size_t weight_bytes() const { return weight_bytes_; }  // of all steps, packed

  // W[n, k] of a step, row-major on the device, to its place in packed[weight_bytes()].
  cudaError_t pack(std::size_t step, const void* weights, void* packed, cudaStream_t stream) const;

  // x[rows, k of the first step]. Two operations in the stream; may be captured. `rows` 1 to 8.
  cudaError_t run(std::uint32_t rows, const void* packed, const void* x, cudaStream_t stream) const;

  // What a step gave, bf16 on the device: [rows][outputs], of which the first k of the next step
  // are written, and all of the last step's.
  const void* outputs(std::size_t step) const;

 private:
  std::vector<RelayStep> steps_;
  std::vector<std::size_t> places_;  // of each step's packed weights and outputs
  std::vector<std::size_t> output_places_;
  std::size_t weight_bytes_ = 0;
  unsigned blocks_ = 0;
  void* memory_ = nullptr;  // steps, counters, sums, outputs
  std::size_t counters_ = 0, sums_ = 0, sums_bytes_ = 0, outputs_ = 0;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace tare::kernels::cuda
