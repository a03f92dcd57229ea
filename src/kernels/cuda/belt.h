// The belt kernel: bf16 rows 1..32 on a GPU of compute capability 9.0, for weights that do not fit
// into the registers of all multiprocessors at once. The copy engine keeps a queue of stages in
// shared memory filled, weights before the kernel in front has ended, and warpgroup products take
// both operands from there: nothing passes through registers but sums.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/belt_plan.h"
#include "kernels/cuda/way.h"

namespace tare::kernels::cuda {

// As slab.h's, for belts. x rows must be 16-byte aligned: k is a multiple of 8.
cudaError_t belt_prepare();
cudaError_t belt_pack(const BeltPlan& plan, const void* weights, void* packed, cudaStream_t stream);
cudaError_t belt_run(const BeltPlan& plan, std::uint32_t rows, const void* packed, const void* x,
                     void* y, const Way& way, const void* bias = nullptr);

}  // namespace tare::kernels::cuda
