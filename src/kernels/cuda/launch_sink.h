// Who takes a launch instead of a stream: an engine that makes a node of its own graph of it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tare::kernels::cuda {

struct Launch {
  unsigned blocks, threads;
  unsigned cluster;  // thread blocks; 1: none
  std::uint32_t shared_bytes;
  bool programmatic;  // may be placed before the kernel in front has ended
};

class LaunchSink {
 public:
  // `kernel` takes one argument, a structure, which is good during the call only.
  virtual cudaError_t take(const void* kernel, const Launch& how, const void* arguments) = 0;

 protected:
  ~LaunchSink() = default;
};

}  // namespace tare::kernels::cuda
