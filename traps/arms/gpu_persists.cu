// Lie: has part of its weights in lines of the L2 that persist: no reading of others drives them out. Named by: the ring gate.
// Without TARE_TRAP_PERSISTS it is its own honest twin (gpu_forgets.so).
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "modules/device_arm_table.h"
#include "modules/device_executor.h"

namespace {

using tare::modules::DeviceDispatch;
using tare::modules::DeviceMemory;
using tare::modules::fenced;
using tare::modules::require;

constexpr unsigned kWarp = 32, kWarps = 4;

#ifdef TARE_TRAP_PERSISTS
constexpr bool kPersists = true;
constexpr const char* kName = "gpu_persists";
#else
constexpr bool kPersists = false;
constexpr const char* kName = "gpu_forgets";
#endif

// A warp an output: any order of adding will do, and any speed.
__global__ void dot(const __nv_bfloat16* weights, const __nv_bfloat16* x, __nv_bfloat16* y,
                    std::uint64_t k, std::uint64_t n, std::uint32_t rows) {
  const std::uint64_t output = std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp;
  if (output >= n) return;
  for (std::uint32_t row = 0; row < rows; ++row) {
    float sum = 0;
#pragma unroll 8
    for (std::uint64_t i = threadIdx.x % kWarp; i < k; i += kWarp)
      sum = fmaf(__bfloat162float(weights[output * k + i]), __bfloat162float(x[row * k + i]), sum);
    for (unsigned step = kWarp / 2; step > 0; step /= 2)
      sum += __shfl_xor_sync(~0U, sum, static_cast<int>(step));
    if (threadIdx.x % kWarp == 0) y[row * n + output] = __float2bfloat16_rn(sum);
  }
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  require(cudaDeviceGetAttribute(&value, which, 0), "asking the GPU");
  return value;
}

// How much may persist.
std::size_t most_persisting() {
  return static_cast<std::size_t>(std::min(attribute(cudaDevAttrMaxPersistingL2CacheSize),
                                           attribute(cudaDevAttrMaxAccessPolicyWindowSize)));
}

}  // namespace

struct tare_executor final : tare::modules::DeviceExecutor {
  tare_executor(const tare_problem& problem, std::uint32_t slots)
      : DeviceExecutor(problem), ring(slots * slot_bytes(problem)) {}

  static std::size_t slot_bytes(const tare_problem& problem) {
    return kElement * problem.k * problem.n;
  }
  void bind(std::uint32_t slot, const void* weights) const {
    require(cudaMemcpy(ring.data() + slot * slot_bytes(problem_), weights, slot_bytes(problem_),
                       cudaMemcpyHostToDevice),
            "copying weights to the device");
  }
  void set_rows(std::uint32_t rows) { problem_.rows = rows; }

  void record(std::span<const DeviceDispatch> dispatches, bool, cudaStream_t on) override {
    cudaLaunchAttribute persist{};
    persist.id = cudaLaunchAttributeAccessPolicyWindow;
    persist.val.accessPolicyWindow = {ring.data(), std::min(ring.size(), most_persisting()), 1.0F,
                                      cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>((problem_.n + kWarps - 1) / kWarps));
    config.blockDim = dim3(kWarp * kWarps);
    config.stream = on;
    config.attrs = &persist;
    config.numAttrs = kPersists ? 1 : 0;
    for (const DeviceDispatch& dispatch : dispatches) {
      const auto* weights = reinterpret_cast<const __nv_bfloat16*>(
          ring.data() + dispatch.slot * slot_bytes(problem_));
      require(cudaLaunchKernelEx(
                  &config, dot, weights, static_cast<const __nv_bfloat16*>(dispatch.x),
                  static_cast<__nv_bfloat16*>(dispatch.y), problem_.k, problem_.n, problem_.rows),
              "launching");
    }
  }

  void describe(tare_dispatch_record& record) const {
    tare::modules::fill(
        record, {"a warp an output", isa_of(tare::modules::opened_device()), kName, ""}, 0U);
  }

  DeviceMemory ring;
};

namespace {

int open_library(const tare_services*, char* why, size_t why_size) {
  return fenced(why, why_size, [] {
    tare::modules::open_device([] { return cudaSuccess; });
    if (kPersists)
      require(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, most_persisting()),
              "setting L2 aside");
  });
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    tare::modules::require_bf16(*problem, kName, std::numeric_limits<int>::max());
  });
}

int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] { *executor = new tare_executor(*problem, slots); });
}

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  static const tare_device_arm arm = tare::modules::device_arm_table<tare_executor>(
      {0U, kName, kName, ""}, {open_library, supports, prepare});
  return index == 0 ? &arm.arm : nullptr;
}
