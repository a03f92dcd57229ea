// What a CUDA call says, for benchmarks: they end where one fails.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace tare::bench {

inline void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

}  // namespace tare::bench
