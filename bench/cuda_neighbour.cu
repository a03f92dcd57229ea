// A neighbour on the GPU: what Tare says beside one is recorded by scripts/h200-bad-input.
//
//   bench_cuda_neighbour SECONDS            keeps all multiprocessors at work for so long
//   bench_cuda_neighbour SECONDS BYTES      holds all device memory but so many bytes
//
// Says "here" on stdout once it is so.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "bench/cuda_check.cuh"

namespace {

using tare::bench::check;

void say_here() {
  std::puts("here");
  std::fflush(stdout);
}

// A millisecond or two on every multiprocessor.
__global__ void work(float* sink, int steps) {
  float value = threadIdx.x;
  for (int step = 0; step < steps; ++step) value = value * 1.0001F + 0.5F;
  if (value < 0) *sink = value;
}

void keep_busy(std::chrono::duration<double> seconds) {
  constexpr int kBlocks = 132 * 8, kThreads = 256, kSteps = 1 << 19;
  float* sink = nullptr;
  check(cudaMalloc(&sink, sizeof *sink), "allocating");
  work<<<kBlocks, kThreads>>>(sink, kSteps);
  check(cudaDeviceSynchronize(), "the first kernel");
  say_here();
  const auto end = std::chrono::steady_clock::now() + seconds;
  while (std::chrono::steady_clock::now() < end) {
    for (int launch = 0; launch < 8; ++launch) work<<<kBlocks, kThreads>>>(sink, kSteps);
    check(cudaDeviceSynchronize(), "a kernel");
  }
}

void hold_all_but(std::size_t bytes, std::chrono::duration<double> seconds) {
  std::size_t available = 0, total = 0;
  void* memory = nullptr;
  check(cudaMemGetInfo(&available, &total), "asking for memory");
  if (available > bytes) check(cudaMalloc(&memory, available - bytes), "allocating");
  say_here();
  std::this_thread::sleep_for(seconds);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fputs("usage: bench_cuda_neighbour SECONDS [BYTES]\n", stderr);
    return 2;
  }
  const std::chrono::duration<double> seconds(std::atof(argv[1]));
  if (argc == 3)
    hold_all_but(static_cast<std::size_t>(std::atof(argv[2])), seconds);
  else
    keep_busy(seconds);
  return 0;
}
