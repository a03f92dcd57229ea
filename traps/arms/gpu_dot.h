// A product on the GPU in a few lines: what an arm that lies about something else computes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tare::traps {

// bf16, row-major: y[rows, n] = x[rows, k] . W[n, k]^T.
struct Dot {
  const void *weights, *x;
  void* y;
  std::uint64_t k, n;
  std::uint32_t rows;
};

// `kept`: memory whose lines of the L2 are to persist; null: none.
cudaError_t launch_dot(const Dot& dot, const cudaAccessPolicyWindow* kept, cudaStream_t stream);

}  // namespace tare::traps
