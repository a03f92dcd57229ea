// The belt kernel: bf16 rows 1..32 on a GPU of compute capability 9.0 and later, for weights that
// do not fit into the registers of all multiprocessors at once. One warp keeps a belt of stages in
// shared memory filled by the bulk copy engine, weights before the kernel in front has ended; the
// other warps multiply what arrives. Many outputs share a stage's inputs, so that x is read from L2
// a fraction as often as weights from memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/belt_plan.h"

namespace tare::kernels::cuda {

// As slab.h's, for belts. x rows must be 16-byte aligned: k is a multiple of 32.
cudaError_t belt_prepare();
cudaError_t belt_pack(const BeltPlan& plan, const void* weights, void* packed, cudaStream_t stream);
cudaError_t belt_run(const BeltPlan& plan, std::uint32_t rows, const void* packed, const void* x,
                     void* y, bool programmatic, cudaStream_t stream);

}  // namespace tare::kernels::cuda
