// Reading weights once and doing nothing with them: the floor of every projection on a GPU. One
// launch reads the weights of many dispatches, so that no launch is in the figure. Several kernels,
// since which reads fastest depends on the GPU; the fastest of them is the limit.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

namespace tare::kernels::cuda {

// Slots of `slot_bytes` (a multiple of 16) lie one behind the other from `ring` on. Reads `count`
// of them: first, first + 1, ..., modulo `slots`.
struct StreamWork {
  const void* ring = nullptr;
  std::uint64_t slot_bytes = 0;
  std::uint64_t first = 0, slots = 1, count = 1;
  void* sink =
      nullptr;  // 4 bytes of device memory, never written unless the data is what it is not
};

struct StreamKernel {
  const char* name;  // "ldg-u8-b4"
  const char* idea;
  cudaError_t (*run)(const StreamWork& work, unsigned processors, cudaStream_t stream);
};
std::span<const StreamKernel> stream_kernels();

}  // namespace tare::kernels::cuda
