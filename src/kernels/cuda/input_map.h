// The copy engine's description of x.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace tare::kernels::cuda {

// Describes x[rows, k] in device memory, bf16, row-major, 16-byte aligned, k a multiple of 8: boxes
// of kBoxDepth columns and all rows, their 16-byte units permuted as ptx.cuh's operand_at() says.
// Host work of well under a microsecond; thread-safe.
cudaError_t map_inputs(const void* x, std::uint64_t k, std::uint32_t rows, CUtensorMap& map);

}  // namespace tare::kernels::cuda
