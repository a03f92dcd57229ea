// bf16 multiply-adds from registers: how fast mma.sync goes when nothing is read. wgmma goes
// further (docs/kernels/cuda-limits.md), so this is a floor that a projection of 33 rows or more
// might beat; to 32 rows, reading is the higher floor by far.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tare::kernels::cuda {

// At least `multiply_adds` of them on the whole device, in one launch. `sink`: 4 bytes of device
// memory.
cudaError_t multiply_add_peak(std::uint64_t multiply_adds, unsigned processors, void* sink,
                              cudaStream_t stream);

}  // namespace tare::kernels::cuda
