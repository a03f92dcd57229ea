// What every executor on a CUDA device is: a problem, and a region that passes the dispatches on.
#pragma once

#include <cstdint>
#include <span>

#include "device_region.h"

namespace tare::modules {

// Base of a module's tare_executor: the functions of tare_device_arm, for bf16 activations and
// outputs. A module writes bind(), set_rows(), describe() and record() itself.
class DeviceExecutor {
 public:
  bool enqueue(std::uint32_t slot, const void* x, void* y) noexcept {
    return region_.enqueue(slot, x, kElement * problem_.k * problem_.rows, y,
                           kElement * problem_.n * problem_.rows, recorder());
  }
  void stage(const tare_region& wanted) { region_.stage(wanted, recorder()); }
  bool launch() noexcept { return region_.launch(recorder()); }
  bool fence() noexcept { return region_.fence(); }
  double collect() { return region_.collect(); }

 protected:
  static constexpr std::size_t kElement = 2;  // bytes of a bf16

  explicit DeviceExecutor(const tare_problem& problem) : problem_(problem) {}
  ~DeviceExecutor() = default;
  DeviceExecutor(const DeviceExecutor&) = delete;
  DeviceExecutor& operator=(const DeviceExecutor&) = delete;

  // Enqueues dispatches on a stream that may be capturing, in order. Throws tare::Error.
  virtual void record(std::span<const DeviceDispatch> dispatches, bool programmatic,
                      cudaStream_t stream) = 0;

  cudaStream_t stream() const { return region_.stream(); }

  tare_problem problem_;

 private:
  Record recorder() {
    return [this](std::span<const DeviceDispatch> dispatches, bool programmatic,
                  cudaStream_t stream) { record(dispatches, programmatic, stream); };
  }

  DeviceRegion region_;
};

}  // namespace tare::modules
