// The staying launch of the grouped kernel (grouped.h): one row, few thread blocks, strip after
// strip.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/cuda/grouped_plan.h"
#include "kernels/cuda/way.h"

namespace tare::kernels::cuda {

// As grouped.h's, for one row of a plan that `stays`.
cudaError_t grouped_stay_prepare(const GroupedPlan& plan);
cudaError_t grouped_stay_run(const GroupedPlan& plan, const void* packed, const void* x, void* y,
                             const Way& way, const void* bias = nullptr);

}  // namespace tare::kernels::cuda
