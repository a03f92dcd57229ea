// The slab kernel: bf16 rows 1..32 on a GPU, as one idea. Every warp loads all of its weights into
// registers, in as many 16-byte loads as fit, before it looks at the activations; with programmatic
// dependent launch that is before the kernel in front of it has ended, so that a chain of
// projections reads weights without a pause. The sums are tensor-core ones with the weights as the
// large side, in an order that depends on k and n alone (slab_plan.h): a row's bits are the same
// alone and among 31 others.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/slab_plan.h"
#include "kernels/cuda/way.h"

namespace tare::kernels::cuda {

// What the compiled kernel can do on the current device.
struct SlabSupport {
  cudaError_t error =
      cudaSuccess;  // cudaErrorNoKernelImageForDevice: built for other architectures
  bool clusters = false;
};
SlabSupport slab_support();

// Lets the kernels use all the shared memory that a thread block can have; once a process, plan and
// device. Not only what the plan needs: plans share kernels.
cudaError_t slab_prepare(const SlabPlan& plan);

// Packs W[n, k] (device memory, row-major) into `packed`, plan.weight_bytes() of device memory.
cudaError_t slab_pack(const SlabPlan& plan, const void* weights, void* packed, cudaStream_t stream);

// y[rows, n] = x[rows, k] . W^T, all in device memory, x and packed 16-byte aligned; plus bias[n]
// in bf16 where it is not null, before the one rounding. Only launches: can be captured into a
// graph.
cudaError_t slab_run(const SlabPlan& plan, std::uint32_t rows, const void* packed, const void* x,
                     void* y, const Way& way, const void* bias = nullptr);

}  // namespace tare::kernels::cuda
