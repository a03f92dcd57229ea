#include <cuda_bf16.h>

#include <algorithm>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/pack.cuh"
#include "kernels/cuda/ptx.cuh"
#include "kernels/cuda/relay.h"

namespace tare::kernels::cuda {
namespace {

constexpr std::uint32_t kGroups = kRelayOutputs / 16, kHalves = 2;
constexpr std::uint32_t kConsumers = kGroups * kHalves;  // warps that multiply; one more fetches
constexpr std::uint32_t kThreads = 32 * kConsumers;
constexpr std::uint32_t kMostQueueStages = 32;

// A step as the kernel has it.
struct Task {
  RelayStep step;
  std::uint32_t first;  // where its units begin in the round
  std::uint64_t weights, outputs;
};
static_assert(sizeof(Task) == 32, "relay_layout() counts so much");

struct Work {
  const Task* tasks;
  const unsigned char* packed;
  const __nv_bfloat16* x;
  unsigned char* outputs;
  float* sums[2];       // of even and odd steps: [part][row][output]
  std::uint32_t* done;  // units of each step, times kGroups
  std::uint32_t count, rows;
  RelayLayout layout;
};

struct Block {
  const Work& at;
  unsigned char* shared;
  std::uint32_t address;

  __device__ const Task& task(std::uint32_t step) const {
    return reinterpret_cast<const Task*>(shared + at.layout.steps)[step];
  }
  __device__ std::uint32_t full(std::uint32_t place) const { return address + 8 * place; }
  __device__ std::uint32_t empty(std::uint32_t place) const {
    return full(kMostQueueStages + place);
  }
  // This thread block's first unit of a task.
  __device__ std::uint32_t first_unit(const Task& task) const {
    const std::uint32_t first = task.first % gridDim.x;
    return blockIdx.x >= first ? blockIdx.x - first : blockIdx.x + gridDim.x - first;
  }
};

struct Turn {
  std::uint32_t place = 0, parity = 0;
  __device__ void next(std::uint32_t places) {
    if (++place < places) return;
    place = 0;
    parity ^= 1;
  }
};

// One thread: all weights of all steps, as fast as there is room.
__device__ void feed(const Block& block) {
  const Work& at = block.at;
  Turn turn{0, 1};  // the first time round everything is empty
  for (std::uint32_t i = 0; i < at.count; ++i) {
    const Task& task = block.task(i);
    const RelayStep step = task.step;
    const unsigned char* weights = at.packed + task.weights;
    for (std::uint32_t unit = block.first_unit(task); unit < step.units(); unit += gridDim.x) {
      const std::uint32_t part = unit % step.parts;
      const std::uint32_t stages = step.first_stage(part + 1) - step.first_stage(part);
      const unsigned char* from = weights + std::uint64_t{step.place_of(unit)} * kRelayStageBytes;
      const std::uint64_t pitch = std::uint64_t{step.pitch_of(unit)} * kRelayStageBytes;
      for (std::uint32_t stage = 0; stage < stages; ++stage, from += pitch) {
        wait_for_barrier(block.empty(turn.place), turn.parity);
        arrive_expecting(block.full(turn.place), kRelayStageBytes);
        copy_bulk(block.address + at.layout.queue + turn.place * kRelayStageBytes, from,
                  kRelayStageBytes, block.full(turn.place));
        turn.next(at.layout.stages);
      }
    }
  }
}

__device__ __forceinline__ void meet_consumers() {
  asm volatile("bar.sync 1, %0;" ::"n"(kThreads) : "memory");
}

__device__ __forceinline__ std::uint32_t load_acquire(const std::uint32_t* address) {
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}
__device__ __forceinline__ void add_release(std::uint32_t* address) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(address) : "memory");
}

// All consumers: until all units of a step are done, and what they wrote is visible.
__device__ void wait_for_step(const Block& block, std::uint32_t step) {
  if (threadIdx.x == 0) {
    const std::uint32_t all = block.task(step).step.units() * kGroups;
    const std::int64_t begun = clock64();
    while (load_acquire(block.at.done + step) < all)
      if (clock64() - begun > std::int64_t{20'000'000'000}) __trap();  // ten seconds: a bug
  }
  meet_consumers();
}

// Four outputs of a row of a step that is done: its parts, ascending, rounded to bf16.
__device__ __forceinline__ uint2 gather_four(const Work& at, const RelayStep& step,
                                             std::uint32_t index, std::uint32_t row,
                                             std::uint32_t column) {
  const float* from = at.sums[index % 2] + std::uint64_t{row} * step.n + column;
  const std::uint64_t pitch = std::uint64_t{at.rows} * step.n;
  constexpr std::uint32_t kMostParts = 12;
  float4 parts[kMostParts];
#pragma unroll
  for (std::uint32_t i = 0; i < kMostParts; ++i)
    if (i < step.parts) parts[i] = __ldcg(reinterpret_cast<const float4*>(from + i * pitch));
  float4 sum = parts[0];
#pragma unroll
  for (std::uint32_t i = 1; i < kMostParts; ++i) {
    if (i >= step.parts) continue;
    sum.x += parts[i].x;
    sum.y += parts[i].y;
    sum.z += parts[i].z;
    sum.w += parts[i].w;
  }
  const __nv_bfloat162 low = __floats2bfloat162_rn(sum.x, sum.y);
  const __nv_bfloat162 high = __floats2bfloat162_rn(sum.z, sum.w);
  return {reinterpret_cast<const std::uint32_t&>(low),
          reinterpret_cast<const std::uint32_t&>(high)};
}

__device__ __forceinline__ __nv_bfloat16* outputs_of(const Block& block, std::uint32_t step) {
  return reinterpret_cast<__nv_bfloat16*>(block.at.outputs + block.task(step).outputs);
}

// A part of x into shared memory. One thread block of all that read it writes it down, too.
__device__ void load_inputs(const Block& block, std::uint32_t index, std::uint32_t part,
                            bool write_down) {
  const Work& at = block.at;
  const RelayStep step = block.task(index).step;
  const std::uint32_t first = step.first_stage(part) * kRelayDepth;
  const std::uint32_t fours = (step.first_stage(part + 1) * kRelayDepth - first) / 4;
  for (std::uint32_t row = 0; row < at.rows; ++row)
    for (std::uint32_t i = threadIdx.x; i < fours; i += kThreads) {
      const std::uint32_t column = first + 4 * i;
      uint2 four;
      if (index == 0) {
        four = *reinterpret_cast<const uint2*>(at.x + std::uint64_t{row} * step.k + column);
      } else {
        const RelayStep before = block.task(index - 1).step;
        four = gather_four(at, before, index - 1, row, column);
        if (write_down)
          *reinterpret_cast<uint2*>(outputs_of(block, index - 1) + std::uint64_t{row} * before.n +
                                    column) = four;
      }
      *reinterpret_cast<uint2*>(block.shared + at.layout.inputs + row * at.layout.input_pitch +
                                8 * i) = four;
    }
  meet_consumers();
}

// A warp's half of all stages of a unit, its 16 outputs.
__device__ __forceinline__ void consume(const Block& block, std::uint32_t stages, Turn& turn,
                                        float (&sums)[4]) {
  const Work& at = block.at;
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, half = warp / kGroups;
  const unsigned char* inputs = block.shared + at.layout.inputs + lane / 4 * at.layout.input_pitch +
                                lane % 4 * 16 + half * kRelayDepth;
  const bool has_row = lane / 4 < at.rows;
  const unsigned char* weights = block.shared + at.layout.queue + warp * 2048 + lane * 16;
  for (std::uint32_t stage = 0; stage < stages; ++stage, inputs += 2 * kRelayDepth) {
    wait_for_barrier(block.full(turn.place), turn.parity);
    const unsigned char* here = weights + turn.place * kRelayStageBytes;
#pragma unroll
    for (std::uint32_t step = 0; step < 2; ++step) {
      const uint4 upper = *reinterpret_cast<const uint4*>(here + step * 1024);
      const uint4 lower = *reinterpret_cast<const uint4*>(here + step * 1024 + 512);
      uint4 x{};
      if (has_row) x = *reinterpret_cast<const uint4*>(inputs + step * 64);
      multiply_add(sums, upper.x, lower.x, upper.y, lower.y, x.x, x.y);
      multiply_add(sums, upper.z, lower.z, upper.w, lower.w, x.z, x.w);
    }
    arrive(block.empty(turn.place));
    turn.next(at.layout.stages);
  }
}

// The two halves' sums, and out. `place`: 0 and 1 in turns, so that one meeting a unit is enough.
__device__ __forceinline__ void hand_over(const Block& block, std::uint32_t index,
                                          std::uint32_t unit, std::uint32_t place,
                                          float (&sums)[4]) {
  const Work& at = block.at;
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = warp % kGroups;
  auto* other =
      reinterpret_cast<float4*>(block.shared + at.layout.sums) + place * 128 + group * 32 + lane;
  if (warp >= kGroups) *other = {sums[0], sums[1], sums[2], sums[3]};
  meet_consumers();
  if (warp >= kGroups) return;
  const float4 upper = *other;
  const float total[4] = {sums[0] + upper.x, sums[1] + upper.y, sums[2] + upper.z,
                          sums[3] + upper.w};
  const RelayStep step = block.task(index).step;
  const std::uint32_t strip = unit / step.parts, part = unit % step.parts;
  float* into = at.sums[index % 2] + std::uint64_t{part} * at.rows * step.n +
                strip * kRelayOutputs + group * 16 + lane / 4;
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t row = lane % 4 * 2 + i % 2;
    if (row < at.rows) __stcg(into + std::uint64_t{row} * step.n + i / 2 * 8, total[i]);
  }
  __syncwarp();
  if (lane == 0) add_release(at.done + index);
}

__device__ void multiply_all(const Block& block) {
  const Work& at = block.at;
  Turn turn;
  std::uint32_t place = 0;
  for (std::uint32_t i = 0; i < at.count; ++i) {
    const Task& task = block.task(i);
    const RelayStep step = task.step;
    std::uint32_t loaded = ~0U;  // the part of x that is there
    for (std::uint32_t unit = block.first_unit(task); unit < step.units(); unit += gridDim.x) {
      const std::uint32_t part = unit % step.parts;
      if (part != loaded) {
        if (loaded == ~0U && i > 0) wait_for_step(block, i - 1);
        load_inputs(block, i, part, unit < step.parts);
        loaded = part;
      }
      float sums[4] = {};
      consume(block, step.first_stage(part + 1) - step.first_stage(part), turn, sums);
      hand_over(block, i, unit, place, sums);
      place ^= 1;
    }
  }
}

// The last step's outputs, each thread block a share.
__device__ void write_last(const Block& block) {
  const Work& at = block.at;
  const std::uint32_t last = at.count - 1;
  wait_for_step(block, last);
  const RelayStep step = block.task(last).step;
  for (std::uint32_t row = 0; row < at.rows; ++row)
    for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < step.n / 4;
         i += gridDim.x * kThreads)
      *reinterpret_cast<uint2*>(outputs_of(block, last) + std::uint64_t{row} * step.n + 4 * i) =
          gather_four(at, step, last, row, 4 * i);
}

__global__ void __launch_bounds__(kThreads + 32, 1) relay(const __grid_constant__ Work at) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const Block block{at, shared, opaque_shared_address(shared)};
  const auto* from = reinterpret_cast<const std::uint32_t*>(at.tasks);
  auto* into = reinterpret_cast<std::uint32_t*>(shared + at.layout.steps);
  for (std::uint32_t i = threadIdx.x; i < at.count * sizeof(Task) / 4; i += blockDim.x)
    into[i] = from[i];
  if (threadIdx.x < at.layout.stages) {
    init_barrier(block.full(threadIdx.x), 1);
    init_barrier(block.empty(threadIdx.x), kThreads);
  }
  publish_barriers();
  __syncthreads();
  if (threadIdx.x == kThreads) feed(block);
  if (threadIdx.x < kThreads) {
    multiply_all(block);
    write_last(block);
  }
  __syncwarp();  // the thread that fed comes from another branch than its warp
  __syncthreads();
  if (threadIdx.x < at.layout.stages) {
    invalidate_barrier(block.full(threadIdx.x));
    invalidate_barrier(block.empty(threadIdx.x));
  }
}

// One thread, 16 bytes: 8 consecutive k of one output.
__global__ void pack_step(const __nv_bfloat16* weights, const RelayStep step,
                          __nv_bfloat16* packed) {
  constexpr std::uint32_t kUnits = kRelayStageBytes / 16;
  const std::uint64_t index = packed_unit();
  const std::uint64_t total = std::uint64_t{step.units()} * step.longest() * kUnits;
  if (index >= total) return;
  const auto stage_place = static_cast<std::uint32_t>(index / kUnits);
  const std::uint32_t turn = stage_place / (kRelayBlocks * step.longest());
  const std::uint32_t within_turn = stage_place - turn * kRelayBlocks * step.longest();
  const std::uint32_t pitch = step.pitch_of(turn * kRelayBlocks);
  const std::uint32_t stage = within_turn / pitch;
  const std::uint32_t unit = turn * kRelayBlocks + within_turn % pitch;
  const std::uint32_t part = unit % step.parts, strip = unit / step.parts;
  const auto within = static_cast<std::uint32_t>(index % kUnits);
  const std::uint32_t lane = within % 32, upper = within / 32 % 2, block = within / 64 % 2;
  const std::uint32_t group = within / 128 % kGroups, half = within / (128 * kGroups);
  const std::uint32_t output = strip * kRelayOutputs + group * 16 + upper * 8 + lane / 4;
  const std::uint32_t first = (step.first_stage(part) + stage) * kRelayDepth +
                              half * (kRelayDepth / 2) + block * 32 + lane % 4 * 8;
  // A place that a shorter part leaves is never read.
  pack_unit(weights, step.n, step.k, output, first, packed + 8 * index);
}

std::size_t round_up(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

}  // namespace

Relay::Relay(std::vector<RelayStep> steps) : steps_(std::move(steps)) {
  std::vector<Task> tasks;
  std::size_t outputs = 0, widest = 0;
  std::uint32_t first = 0;
  for (const RelayStep& step : steps_) {
    tasks.push_back({step, first, weight_bytes_, outputs});
    places_.push_back(weight_bytes_);
    output_places_.push_back(outputs);
    first = (first + step.units()) % kRelayBlocks;
    weight_bytes_ += round_up(step.weight_bytes());
    outputs += round_up(std::size_t{2} * step.n * kMostRelayRows);
    widest = std::max(widest, std::size_t{step.parts} * step.n);
  }
  counters_ = round_up(tasks.size() * sizeof(Task));
  sums_ = counters_ + round_up(tasks.size() * sizeof(std::uint32_t));
  sums_bytes_ = round_up(widest * kMostRelayRows * sizeof(float));
  outputs_ = sums_ + 2 * sums_bytes_;
  int device = 0, processors = 0;
  const auto then = [&](cudaError_t result) {
    if (error_ == cudaSuccess) error_ = result;
  };
  then(cudaGetDevice(&device));
  then(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  blocks_ = std::min(static_cast<unsigned>(processors), kRelayBlocks);
  then(cudaMalloc(&memory_, outputs_ + outputs));
  if (error_ == cudaSuccess)
    then(cudaMemcpy(memory_, tasks.data(), tasks.size() * sizeof(Task), cudaMemcpyHostToDevice));
  then(allow_most_shared_memory(relay));
}

Relay::~Relay() {
  cudaFree(memory_);
}

const void* Relay::outputs(std::size_t step) const {
  return static_cast<const std::byte*>(memory_) + outputs_ + output_places_[step];
}

cudaError_t Relay::pack(std::size_t step, const void* weights, void* packed,
                        cudaStream_t stream) const {
  return launch_packing(
      pack_step, steps_[step].weight_bytes() / 16, stream,
      static_cast<const __nv_bfloat16*>(weights), steps_[step],
      reinterpret_cast<__nv_bfloat16*>(static_cast<std::byte*>(packed) + places_[step]));
}

cudaError_t Relay::run(std::uint32_t rows, const void* packed, const void* x,
                       cudaStream_t stream) const {
  auto* memory = static_cast<unsigned char*>(memory_);
  const RelayLayout layout = relay_layout(steps_, rows);
  if (layout.stages < 2) return cudaErrorInvalidConfiguration;
  const cudaError_t cleared =
      cudaMemsetAsync(memory + counters_, 0, steps_.size() * sizeof(std::uint32_t), stream);
  if (cleared != cudaSuccess) return cleared;
  const Work work{.tasks = reinterpret_cast<const Task*>(memory),
                  .packed = static_cast<const unsigned char*>(packed),
                  .x = static_cast<const __nv_bfloat16*>(x),
                  .outputs = memory + outputs_,
                  .sums = {reinterpret_cast<float*>(memory + sums_),
                           reinterpret_cast<float*>(memory + sums_ + sums_bytes_)},
                  .done = reinterpret_cast<std::uint32_t*>(memory + counters_),
                  .count = static_cast<std::uint32_t>(steps_.size()),
                  .rows = rows,
                  .layout = layout};
  cudaLaunchAttribute together{};  // thread blocks wait for each other: all must run
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks_);
  config.blockDim = dim3(kThreads + 32);
  config.dynamicSmemBytes = layout.bytes;
  config.stream = stream;
  config.attrs = &together;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, relay, work);
}

}  // namespace tare::kernels::cuda
