// The grouped kernel: weights of 4 or 8 bits by group, bf16 activations, rows 1..32, on a GPU of
// compute capability 9.0. Codes pass through the queue of queue.cuh, become exact bf16 integers in
// registers, and a group's sum is scaled once it is there: scales never round a weight. With few
// rows codes can be in registers before the kernel in front has ended.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/grouped_plan.h"
#include "kernels/cuda/way.h"

namespace tare::kernels::cuda {

// As slab.h's. `weights` of grouped_pack: W[n, k] as tare/arm.h lays the type out, in device
// memory, 64-byte aligned. x rows must be 16-byte aligned: k is a multiple of 8.
cudaError_t grouped_prepare(const GroupedPlan& plan);
cudaError_t grouped_pack(const GroupedPlan& plan, const void* weights, void* packed,
                         cudaStream_t stream);
cudaError_t grouped_run(const GroupedPlan& plan, std::uint32_t rows, const void* packed,
                        const void* x, void* y, const Way& way, const void* bias = nullptr);

}  // namespace tare::kernels::cuda
