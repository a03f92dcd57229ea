// A region on a CUDA device, for the modules that run there: copies of the host's inputs and
// outputs, a graph captured and uploaded before it is timed, events around it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tare/arm.h"

namespace tare::modules {

// Throws tare::Error (kMachine) with what CUDA says, and what to do where that is known.
void require(cudaError_t result, const char* what);

// Device memory. Throws tare::Error (kMachine) when there is too little.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// One dispatch, with addresses of the device's copies.
struct DeviceDispatch {
  std::uint32_t slot;
  const void* x;
  void* y;
};

// Enqueues dispatches on a stream that may be capturing, in order. Programmatic: see
// TARE_REGION_PROGRAMMATIC.
using Record =
    std::function<void(std::span<const DeviceDispatch>, bool programmatic, cudaStream_t)>;

class DeviceRegion {
 public:
  DeviceRegion();
  ~DeviceRegion();
  DeviceRegion(const DeviceRegion&) = delete;
  DeviceRegion& operator=(const DeviceRegion&) = delete;

  cudaStream_t stream() const { return stream_; }

  // tare_device_arm's functions. stage() and collect() throw tare::Error; the other two return
  // false.
  void stage(const tare_region& region, const Record& record);
  bool launch(const Record& record) noexcept;
  bool fence() noexcept;
  double collect();

  // tare_arm::enqueue(): one dispatch of a caller whose x and y are on the host.
  bool enqueue(std::uint32_t slot, const void* x, std::size_t x_bytes, void* y, std::size_t y_bytes,
               const Record& record) noexcept;

 private:
  void copy_in(const tare_region& region);
  void capture(const Record& record);
  void forget_graph();

  cudaStream_t stream_ = nullptr;
  cudaEvent_t before_ = nullptr, after_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
  DeviceMemory inputs_, outputs_;
  DeviceMemory x_, y_;  // of enqueue()
  void* host_outputs_ = nullptr;
  std::size_t output_bytes_ = 0;
  std::vector<DeviceDispatch> dispatches_;
  std::uint32_t flags_ = 0;
};

struct Device {
  unsigned processors = 0;
  int major = 0, minor = 0;
};
// What open() checks: a device is there, the driver is new enough, `kernels_run` (a kernel's
// cudaFuncGetAttributes) found code for it. Throws tare::Error (kMachine) with a sentence.
void open_device(cudaError_t (*kernels_run)());
// What open_device() found: the ABI has no place to hand it from call to call.
const Device& opened_device();
std::string isa_of(const Device& device);  // "sm_90"

}  // namespace tare::modules
