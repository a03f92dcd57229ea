// A warp an output: any order of adding will do, and any speed.
#include "gpu_dot.h"

#include <cuda_bf16.h>

namespace tare::traps {
namespace {

constexpr unsigned kWarp = 32, kWarps = 4;

__global__ void dot_kernel(Dot dot) {
  const std::uint64_t output = std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp;
  if (output >= dot.n) return;
  const auto* weights = static_cast<const __nv_bfloat16*>(dot.weights) + output * dot.k;
  for (std::uint32_t row = 0; row < dot.rows; ++row) {
    const auto* x = static_cast<const __nv_bfloat16*>(dot.x) + row * dot.k;
    float sum = 0;
#pragma unroll 8
    for (std::uint64_t i = threadIdx.x % kWarp; i < dot.k; i += kWarp)
      sum = fmaf(__bfloat162float(weights[i]), __bfloat162float(x[i]), sum);
    for (unsigned step = kWarp / 2; step > 0; step /= 2)
      sum += __shfl_xor_sync(~0U, sum, static_cast<int>(step));
    if (threadIdx.x % kWarp == 0)
      static_cast<__nv_bfloat16*>(dot.y)[row * dot.n + output] = __float2bfloat16_rn(sum);
  }
}

}  // namespace

cudaError_t launch_dot(const Dot& dot, const cudaAccessPolicyWindow* kept, cudaStream_t stream) {
  cudaLaunchAttribute persist{};
  persist.id = cudaLaunchAttributeAccessPolicyWindow;
  if (kept != nullptr) persist.val.accessPolicyWindow = *kept;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((dot.n + kWarps - 1) / kWarps));
  config.blockDim = dim3(kWarp * kWarps);
  config.stream = stream;
  config.attrs = &persist;
  config.numAttrs = kept != nullptr ? 1 : 0;
  return cudaLaunchKernelEx(&config, dot_kernel, dot);
}

}  // namespace tare::traps
