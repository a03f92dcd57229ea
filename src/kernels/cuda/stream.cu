#include <algorithm>
#include <array>

#include "kernels/cuda/ptx.cuh"
#include "kernels/cuda/stream.h"

namespace tare::kernels::cuda {
namespace {

constexpr unsigned kThreads = 512;

// A tile is kUnroll x 512 x 16 bytes of one slot, the last one of a slot shorter. Tiles are dealt
// to thread blocks in turns; all loads of a tile are in flight together.
template <int kUnroll>
__global__ void __launch_bounds__(kThreads) read(const StreamWork work) {
  const std::uint64_t units = work.slot_bytes / 16;
  constexpr std::uint64_t kTile = std::uint64_t{kUnroll} * kThreads;
  const std::uint64_t tiles_per_slot = (units + kTile - 1) / kTile;
  const auto* ring = static_cast<const uint4*>(work.ring);
  std::uint32_t seen = 0;
  for (std::uint64_t tile = blockIdx.x; tile < tiles_per_slot * work.count; tile += gridDim.x) {
    const std::uint64_t slot = (work.first + tile / tiles_per_slot) % work.slots;
    const std::uint64_t first = tile % tiles_per_slot * kTile + threadIdx.x;
    const uint4* from = ring + slot * units;
    uint4 values[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      const std::uint64_t at = first + std::uint64_t{kThreads} * i;
      values[i] = load_once(from + (at < units ? at : units - 1));
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) seen |= values[i].x ^ values[i].y ^ values[i].z ^ values[i].w;
  }
  // Real weights never give this in every thread; the compiler does not know.
  if (seen == 0x5eed5eedU) *static_cast<std::uint32_t*>(work.sink) = seen;
}

template <int kUnroll, int kBlocksPerProcessor>
cudaError_t run(const StreamWork& work, unsigned processors, cudaStream_t stream) {
  read<kUnroll><<<processors * kBlocksPerProcessor, kThreads, 0, stream>>>(work);
  return cudaGetLastError();
}

constexpr std::array<StreamKernel, 5> kKernels{{
    {"ldg-u4-b4", "16-byte loads, 4 in flight a thread, 4 thread blocks a multiprocessor",
     run<4, 4>},
    {"ldg-u8-b2", "16-byte loads, 8 in flight a thread, 2 thread blocks a multiprocessor",
     run<8, 2>},
    {"ldg-u8-b4", "16-byte loads, 8 in flight a thread, 4 thread blocks a multiprocessor",
     run<8, 4>},
    {"ldg-u4-b16", "16-byte loads, 4 in flight a thread, 16 thread blocks a multiprocessor",
     run<4, 16>},
    {"ldg-u2-b32", "16-byte loads, 2 in flight a thread, 32 thread blocks a multiprocessor",
     run<2, 32>},
}};

}  // namespace

std::span<const StreamKernel> stream_kernels() {
  return kKernels;
}

}  // namespace tare::kernels::cuda
