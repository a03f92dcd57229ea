// The early launches of the grouped kernel (grouped.h): all codes in registers before x is there.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/grouped_plan.h"
#include "kernels/cuda/way.h"

namespace tare::kernels::cuda {

// As grouped.h's, for row counts up to the plan's early_rows.
cudaError_t grouped_early_prepare(const GroupedPlan& plan);
cudaError_t grouped_early_run(const GroupedPlan& plan, std::uint32_t rows, const void* packed,
                              const void* x, void* y, const Way& way, const void* bias = nullptr);

}  // namespace tare::kernels::cuda
