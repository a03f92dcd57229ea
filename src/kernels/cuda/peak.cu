#include "kernels/cuda/peak.h"
#include "kernels/cuda/ptx.cuh"

namespace tare::kernels::cuda {
namespace {

constexpr unsigned kThreads = 512;
constexpr int kChains = 8;  // independent sums a warp: mma.sync's latency is some 33 cycles
constexpr std::uint64_t kPerMma = 16 * 8 * 16;

// Operands that differ from lane to lane and are near one: zeros draw less power and run faster.
__device__ std::uint32_t operand(std::uint32_t seed) {
  seed = seed * 0x9E3779B1U + threadIdx.x * 0x85EBCA6BU;
  return 0x3f003f00U | (seed & 0x807f807fU);
}

__global__ void __launch_bounds__(kThreads) multiply(std::uint64_t rounds, float* sink) {
  float sums[kChains][4] = {};
  std::uint32_t a[4], b[2];
  for (std::uint32_t i = 0; i < 4; ++i) a[i] = operand(i);
  for (std::uint32_t i = 0; i < 2; ++i) b[i] = operand(i + 4);
  for (std::uint64_t round = 0; round < rounds; ++round) {
#pragma unroll
    for (auto& sum : sums) multiply_add(sum, a[0], a[1], a[2], a[3], b[0], b[1]);
  }
  float total = 0;
  for (const auto& sum : sums) total += sum[0] + sum[1] + sum[2] + sum[3];
  if (total == 12345.678F) *sink = total;
}

}  // namespace

cudaError_t multiply_add_peak(std::uint64_t multiply_adds, unsigned processors, void* sink,
                              cudaStream_t stream) {
  const std::uint64_t warps = std::uint64_t{processors} * kThreads / 32;
  const std::uint64_t per_round = warps * kChains * kPerMma;
  const std::uint64_t rounds = (multiply_adds + per_round - 1) / per_round;
  multiply<<<processors, kThreads, 0, stream>>>(rounds, static_cast<float*>(sink));
  return cudaGetLastError();
}

}  // namespace tare::kernels::cuda
