// How a dispatch of our kernels is launched.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/cuda/launch_sink.h"

namespace tare::kernels::cuda {

struct Way {
  bool programmatic = false;  // may be placed before the kernel in front has ended
  cudaStream_t stream = nullptr;
  LaunchSink* sink = nullptr;  // instead of the stream
};

}  // namespace tare::kernels::cuda
