// Packing weights on the device: a thread for every 16 bytes of packed weights.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace tare::kernels::cuda {

// The unit of 16 bytes that this thread packs; there may be fewer.
__device__ inline std::uint64_t packed_unit() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

// A unit of bf16: 8 consecutive k of one output of W[n, k], zero past the ends.
__device__ inline void pack_unit(const __nv_bfloat16* weights, std::uint64_t n, std::uint64_t k,
                                 std::uint64_t output, std::uint64_t first, __nv_bfloat16* unit) {
  for (std::uint32_t e = 0; e < 8; ++e) {
    const bool inside = output < n && first + e < k;
    unit[e] = inside ? weights[output * k + first + e] : __float2bfloat16_rn(0.0F);
  }
}

template <typename... Arguments>
cudaError_t launch_packing(void (*kernel)(Arguments...), std::uint64_t units, cudaStream_t stream,
                           const std::type_identity_t<Arguments>&... arguments) {
  constexpr unsigned kThreads = 256;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((units + kThreads - 1) / kThreads));
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace tare::kernels::cuda
