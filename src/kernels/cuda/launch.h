// Launching a kernel with what its plan asks for.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/way.h"

namespace tare::kernels::cuda {

template <typename Arguments>
cudaError_t launch(void (*kernel)(Arguments), const Arguments& arguments, const Launch& how,
                   const Way& way) {
  if (way.sink != nullptr)
    return way.sink->take(reinterpret_cast<const void*>(kernel), how, &arguments);
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(how.blocks);
  config.blockDim = dim3(how.threads);
  config.dynamicSmemBytes = how.shared_bytes;
  config.stream = way.stream;
  config.attrs = attributes;
  if (how.programmatic) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (how.cluster > 1) {
    attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attributes[config.numAttrs].val.clusterDim.x = how.cluster;
    attributes[config.numAttrs].val.clusterDim.y = 1;
    attributes[config.numAttrs++].val.clusterDim.z = 1;
  }
  return cudaLaunchKernelEx(&config, kernel, arguments);
}

// Lets a kernel use all the shared memory that a thread block can have; once a process and device.
// Not only what one plan needs: plans share kernels.
template <typename Arguments>
cudaError_t allow_most_shared_memory(void (*kernel)(Arguments)) {
  int device = 0, bytes = 0;
  cudaError_t result = cudaGetDevice(&device);
  if (result == cudaSuccess)
    result = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (result != cudaSuccess) return result;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
template <typename Kernels>
cudaError_t allow_most_shared_memory(const Kernels& kernels) {
  for (const auto kernel : kernels)
    if (const cudaError_t result = allow_most_shared_memory(kernel); result != cudaSuccess)
      return result;
  return cudaSuccess;
}

}  // namespace tare::kernels::cuda
