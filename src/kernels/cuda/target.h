// Where a launch goes: to a stream, or to somebody who makes a node of a graph of it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
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

struct Target {
  Target(std::nullptr_t) {}                          // NOLINT(google-explicit-constructor)
  Target(cudaStream_t stream_) : stream(stream_) {}  // NOLINT(google-explicit-constructor)
  Target(LaunchSink& sink_) : sink(&sink_) {}        // NOLINT(google-explicit-constructor)

  cudaStream_t stream = nullptr;
  LaunchSink* sink = nullptr;  // instead of the stream
};

}  // namespace tare::kernels::cuda
