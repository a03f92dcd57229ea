// Does it matter where weights lie in a GPU's memory? One kernel over rings that hold the same
// weights at other places: fresh allocations, one allocation a slot, padded slots, padded rows.
// JSON on stdout, for results/h200/placement.json.
//
//   bench_cuda_placement [k n]        default: 4096 4096
//
// docs/kernels/cuda-placement.md has what came of it.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/cuda_clock.cuh"
#include "kernels/cuda/cut.h"
#include "kernels/cuda/slab.h"
#include "kernels/cuda/stream.h"
#include "tare/arm.h"

namespace {

using namespace tare::kernels::cuda;
using tare::bench::check;
using tare::bench::GraphClock;

constexpr std::size_t kRingBytes = std::size_t{1} << 30U;
constexpr int kPlacements = 12, kTurns = 15;

__global__ void fill(std::uint16_t* into, std::size_t count, std::uint32_t seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    std::uint32_t bits = static_cast<std::uint32_t>(i) * 2654435761U + seed;
    bits = (bits ^ bits >> 15) * 0x846ca68bU;
    into[i] = static_cast<std::uint16_t>((bits >> 16 & 0x807fU) | 0x3c00U | (bits & 0x180U));
  }
}

// A row of W a warp, as a plain matrix-vector product reads it: at one time, many rows at nearly
// the same column, `stride` elements apart.
__global__ void row_a_warp(const uint4* w, const uint4* x, std::uint64_t k, std::uint64_t stride,
                           std::uint16_t* y) {
  const std::uint64_t row = blockIdx.x * std::uint64_t{8} + threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const uint4* mine = w + row * stride / 8;
  float sum = 0;
#pragma unroll 4
  for (std::uint64_t i = lane; i < k / 8; i += 32) {
    const uint4 a = __ldg(mine + i), b = __ldg(x + i);
    const std::uint32_t as[4] = {a.x, a.y, a.z, a.w}, bs[4] = {b.x, b.y, b.z, b.w};
    for (int j = 0; j < 4; ++j) {
      sum += __uint_as_float(as[j] << 16) * __uint_as_float(bs[j] << 16);
      sum += __uint_as_float(as[j] & 0xffff0000U) * __uint_as_float(bs[j] & 0xffff0000U);
    }
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0U, sum, step);
  if (lane == 0) y[row] = static_cast<std::uint16_t>(__float_as_uint(sum) >> 16);
}

// A ring of slots in device memory.
struct Layout {
  const char* name;
  std::size_t pad;    // bytes between one slot and the next
  std::size_t shift;  // bytes before the first slot
  bool own;           // every slot an allocation of its own
};
constexpr Layout kLayouts[] = {{"one block", 0, 0, false},
                               {"one block, 256 bytes in", 0, 256, false},
                               {"one block, 4 KiB in", 0, 4096, false},
                               {"one block, 64 KiB in", 0, 64U << 10U, false},
                               {"one block, 1 MiB in", 0, 1U << 20U, false},
                               {"slots 256 bytes apart", 256, 0, false},
                               {"slots 4352 bytes apart", 4352, 0, false},
                               {"slots 2 MiB + 4352 bytes apart", (2U << 20U) + 4352, 0, false},
                               {"an allocation a slot", 0, 0, true}};

class Ring {
 public:
  Ring(const Layout& layout, std::size_t slot_bytes) {
    const std::size_t slots = kRingBytes / slot_bytes;
    const std::size_t stride = slot_bytes + layout.pad;
    if (!layout.own) take(slots * stride + layout.shift);
    for (std::size_t i = 0; i < slots; ++i) {
      if (layout.own) take(slot_bytes);
      slots_.push_back(layout.own ? blocks_.back() : blocks_.front() + layout.shift + i * stride);
    }
  }
  ~Ring() {
    for (std::byte* block : blocks_) cudaFree(block);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  const std::vector<std::byte*>& slots() const { return slots_; }

 private:
  void take(std::size_t bytes) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "ring");
    fill<<<1024, 256>>>(static_cast<std::uint16_t*>(memory), bytes / 2, 7);
    check(cudaDeviceSynchronize(), "fill");
    blocks_.push_back(static_cast<std::byte*>(memory));
  }
  std::vector<std::byte*> blocks_, slots_;
};

using Run = std::function<void(const std::byte* slot, cudaStream_t)>;

// Microseconds a dispatch, the median of replays of one graph over the whole ring.
double ring_time(GraphClock& clock, const Ring& ring, const Run& run) {
  const std::vector<double> seconds = clock.times(kTurns, [&] {
    for (const std::byte* slot : ring.slots()) run(slot, clock.stream());
  });
  return 1e6 * tare::bench::median(seconds) / static_cast<double>(ring.slots().size());
}

struct Kernel {
  std::string name;
  std::size_t slot_bytes;
  Run run;
};

void print(const char* name, const std::vector<double>& values) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i)
    std::printf("%s%.3f", i > 0 ? ", " : "", values[i]);
  std::printf("]");
}

// Every placement is kept while the next one is made, so that it gets other memory.
void study(GraphClock& clock, const Kernel& kernel, const Layout& layout, bool first) {
  std::vector<std::unique_ptr<Ring>> rings;
  std::vector<double> once, again;
  for (int i = 0; i < kPlacements; ++i)
    rings.push_back(std::make_unique<Ring>(layout, kernel.slot_bytes));
  for (const auto& ring : rings) ring_time(clock, *ring, kernel.run);  // warm clocks
  for (const auto& ring : rings) once.push_back(ring_time(clock, *ring, kernel.run));
  for (const auto& ring : rings) again.push_back(ring_time(clock, *ring, kernel.run));
  std::printf("%s  {\"kernel\": \"%s\", \"layout\": \"%s\", ", first ? "" : ",\n",
              kernel.name.c_str(), layout.name);
  print("us", once);
  std::printf(", ");
  print("us_again", again);
  std::printf("}");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  const std::uint64_t k = count == 3 ? std::strtoull(arguments[1], nullptr, 10) : 4096;
  const std::uint64_t n = count == 3 ? std::strtoull(arguments[2], nullptr, 10) : 4096;
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "device");
  void *x = nullptr, *y = nullptr, *sink = nullptr;
  check(cudaMalloc(&x, 2 * k * 32), "x");
  check(cudaMalloc(&y, 2 * n * 32), "y");
  check(cudaMalloc(&sink, 4), "sink");
  fill<<<64, 256>>>(static_cast<std::uint16_t*>(x), k * 32, 3);
  const CutPlan plan = choose_cut_plan({TARE_BF16, k, n, slab_support().clusters});
  check(cut_prepare(plan), "prepare");
  const auto processors = static_cast<unsigned>(device.multiProcessorCount);
  const auto rows_of = [&](std::uint64_t pad) {
    return [=](const std::byte* slot, cudaStream_t stream) {
      row_a_warp<<<static_cast<unsigned>(n / 8), 256, 0, stream>>>(
          reinterpret_cast<const uint4*>(slot), static_cast<const uint4*>(x), k, k + pad,
          static_cast<std::uint16_t*>(y));
    };
  };
  const std::vector<Kernel> kernels{
      {"stream", 2 * k * n,
       [&](const std::byte* slot, cudaStream_t stream) {
         const StreamWork work{slot, 2 * k * n, 0, 1, 1, sink};
         check(stream_kernels().front().run(work, processors, stream), "stream");
       }},
      {"tare-cuda", weight_bytes(plan),
       [&](const std::byte* slot, cudaStream_t stream) {
         check(cut_run(plan, 1, slot, x, y, {.programmatic = false, .stream = stream}), "cut");
       }},
      {"a row a warp", 2 * k * n, rows_of(0)},
      {"a row a warp, rows 32 bytes apart", 2 * (k + 16) * n, rows_of(16)},
      {"a row a warp, rows 128 bytes apart", 2 * (k + 64) * n, rows_of(64)},
      {"a row a warp, rows 512 bytes apart", 2 * (k + 256) * n, rows_of(256)}};
  GraphClock clock;
  std::printf("{\"device\": \"%s\", \"k\": %llu, \"n\": %llu, \"placements\": %d, \"studies\": [\n",
              device.name, static_cast<unsigned long long>(k), static_cast<unsigned long long>(n),
              kPlacements);
  bool first = true;
  for (const Kernel& kernel : kernels)
    for (const Layout& layout : kLayouts) {
      study(clock, kernel, layout, first);
      first = false;
    }
  std::printf("]}\n");
}
