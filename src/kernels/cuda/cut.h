// Running a cut of whichever kernel it is of. Contracts are those of slab.h and belt.h.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/cuda/cut_plan.h"
#include "kernels/cuda/way.h"

namespace tare::kernels::cuda {

cudaError_t cut_prepare(const CutPlan& plan);
cudaError_t cut_pack(const CutPlan& plan, const void* weights, void* packed, cudaStream_t stream);
cudaError_t cut_run(const CutPlan& plan, std::uint32_t rows, const void* packed, const void* x,
                    void* y, const Way& way, const void* bias = nullptr);

}  // namespace tare::kernels::cuda
