// Values of bf16 in device memory, for tests of the CUDA kernels.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/bf16_arithmetic.h"

namespace tare::kernels::cuda {

// How far an output may be from the exact sum: half a bf16 step of that, and what f32 sums may
// lose, 2^-23 a step since tensor cores truncate. `magnitude`: of what is added up, times the
// steps.
inline double slack_of(double exact, double magnitude) {
  return std::fabs(exact) / 256 + std::ldexp(magnitude, -23) + 1e-38;
}
// A NaN never is.
inline bool is_within(double slack, Bf16 output, double exact) {
  return std::fabs(static_cast<double>(widen_unflushed(output)) - exact) <= slack;
}

// Device memory that holds values.
class DeviceValues {
 public:
  explicit DeviceValues(const std::vector<Bf16>& values) : count_(values.size()) {
    EXPECT_EQ(cudaMalloc(&memory_, 2 * count_), cudaSuccess);
    put(values);
  }
  explicit DeviceValues(const std::vector<std::byte>& bytes) : DeviceValues(bytes.size()) {
    EXPECT_EQ(cudaMemcpy(memory_, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), cudaSuccess);
  }
  explicit DeviceValues(std::size_t bytes) : count_(bytes / 2) {
    EXPECT_EQ(cudaMalloc(&memory_, bytes), cudaSuccess);
  }
  ~DeviceValues() { cudaFree(memory_); }
  DeviceValues(const DeviceValues&) = delete;
  DeviceValues& operator=(const DeviceValues&) = delete;

  void put(const std::vector<Bf16>& values) const {
    EXPECT_EQ(cudaMemcpy(memory_, values.data(), 2 * values.size(), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  std::vector<Bf16> get() const {
    std::vector<Bf16> values(count_);
    EXPECT_EQ(cudaMemcpy(values.data(), memory_, 2 * count_, cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }
  Bf16* at(std::size_t index) const { return static_cast<Bf16*>(memory_) + index; }

 private:
  std::size_t count_;
  void* memory_ = nullptr;
};

// Whether there is a GPU; tests skip where there is none.
inline bool has_gpu() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) return true;
  cudaGetLastError();
  return false;
}

// The `count` values that run(y) has written to y, full of poison before, as all that is beside it:
// that must survive.
template <typename Run>
std::vector<Bf16> outputs_of(std::size_t count, Bf16 poison, Run&& run) {
  constexpr std::size_t kGuard = 64;  // values, on both sides of y
  std::vector<Bf16> guarded(count + 2 * kGuard, poison);
  const DeviceValues y(guarded);
  EXPECT_EQ(run(y.at(kGuard)), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  guarded = y.get();
  for (std::size_t i = 0; i < kGuard; ++i) {
    EXPECT_EQ(guarded[i], poison) << "written before y";
    EXPECT_EQ(guarded[guarded.size() - 1 - i], poison) << "written past y";
  }
  return {guarded.begin() + kGuard, guarded.end() - kGuard};
}

}  // namespace tare::kernels::cuda
