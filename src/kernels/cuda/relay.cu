#include "kernels/cuda/relay.h"

#include <algorithm>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/pack.cuh"
#include "kernels/cuda/ptx.cuh"
#include "kernels/cuda/turn.cuh"

namespace tare::kernels::cuda {
namespace {

constexpr std::uint32_t kRows = 16;  // of a tensor core product: of sums that a warp has of a strip
constexpr std::uint32_t kUnit = 16;  // bytes
// nvcc 13.0 takes no form itself as a kernel's parameter.
template <int kWidth>
constexpr RelayForm kForm = kWidth == 8 ? kNarrowRelay : kWideRelay;
template <int kWidth>
constexpr RelayLayout kLayout{kForm<kWidth>};
template <int kWidth>
constexpr std::uint32_t kDepth = kForm<kWidth>.depth();  // k of a stage
// Those that multiply, one that adds up, one that fetches.
template <int kWidth>
constexpr std::uint32_t kThreads = 32 * (kForm<kWidth>.warps + 2);
// Two outputs that are not there yet: no sum is rounded to this NaN.
constexpr std::uint32_t kNotYet = 0xffffffffU;
// By how many places thread blocks move from layer to layer; prime to 132 and 148 of them.
constexpr std::uint32_t kShift = 37;
constexpr std::uint32_t kLead = 4;  // stages of a warp that L2 fetches beyond shared memory
constexpr unsigned kNap = 20;       // nanoseconds; 0 to 100 are equal

struct RelayWork {
  const unsigned char* weights;
  const __nv_bfloat16* x;
  __nv_bfloat16* y;
  std::uint32_t* launches;    // [0] so far; [1] thread blocks of this one that are done
  __nv_bfloat16* outputs;     // [2][steps][pitch]
  const std::uint16_t* deal;  // RelayPlan's
  std::uint64_t layer_bytes, pitch;
  std::uint32_t count, layers;  // projections of a layer
  RelayProjection projections[kMostRelayProjections];

  __device__ std::uint32_t steps() const { return count * layers; }
  __device__ __nv_bfloat16* outputs_of(std::uint32_t launch, std::uint32_t step) const {
    return outputs + (std::uint64_t{launch % 2} * steps() + step) * pitch;
  }
};

// A thread block's shares of the chain, one after the other; what it has nothing of is left out.
template <int kWidth>
struct Share {
  static constexpr std::uint32_t kWarps = kForm<kWidth>.warps;

  const RelayWork* at;
  const std::uint16_t* deal;
  std::uint32_t layer = 0, projection = ~0U, rank = blockIdx.x, first = 0, strips = 0;

  __device__ bool next() {
    do {
      if (++projection == at->count) {
        projection = 0;
        if (++layer == at->layers) return false;
        rank = (rank + kShift) % gridDim.x;
      }
      const std::uint16_t* one = deal + projection * (gridDim.x + 1) + rank;
      first = one[0];
      strips = one[1] - first;
    } while (strips == 0);
    return true;
  }
  __device__ const RelayProjection& of() const { return at->projections[projection]; }
  __device__ std::uint32_t step() const { return layer * at->count + projection; }
  // Stages of a strip that warp `warp` takes: warp, warp + kWarps, ...
  __device__ std::uint32_t stages(std::uint32_t warp) const {
    return (of().stages + kWarps - 1 - warp) / kWarps;
  }
};

template <int kWidth>
struct Shared {
  static constexpr RelayForm kShape = kForm<kWidth>;
  std::uint32_t address;

  __device__ std::uint32_t stage(std::uint32_t warp, std::uint32_t place) const {
    return address + (warp * kShape.stages + place) * kRelayStageBytes;
  }
  __device__ std::uint32_t inputs(std::uint32_t warp) const {
    return address + kLayout<kWidth>.inputs + warp * kShape.input_bytes;
  }
  // A stage has arrived; its warp is done with it; the sums of a strip have been read.
  __device__ std::uint32_t full(std::uint32_t warp, std::uint32_t place) const {
    return address + kLayout<kWidth>.barriers + 8 * (warp * kShape.stages + place);
  }
  __device__ std::uint32_t empty(std::uint32_t warp, std::uint32_t place) const {
    return full(kShape.warps + warp, place);
  }
  __device__ std::uint32_t read(std::uint32_t place) const { return full(2 * kShape.warps, place); }
};

// A lane's part of a stage: what it brings into four products of 16 k each.
struct Weights {
  uint4 of[4];
};

// One of the warps that multiply.
template <int kWidth>
class Multiplier {
 public:
  __device__ Multiplier(const RelayWork& at, const Shared<kWidth>& shared, float* sums,
                        const std::uint16_t* deal, std::uint32_t launch)
      : at_(at), shared_(shared), sums_(sums), share_{&at, deal}, launch_(launch) {}

  __device__ void run() {
    while (share_.next()) {
      const std::uint32_t stages = share_.stages(warp_);
      Weights ahead[kShape.ahead];
#pragma unroll
      for (std::uint32_t i = 0; i < kShape.ahead; ++i)
        if (i < stages) ahead[i] = take();
      wait_for_barrier(shared_.read(sum_.place), sum_.parity ^ 1);
      bring_inputs(stages);
#pragma unroll
      for (std::uint32_t i = 0; i < kShape.ahead; ++i)
        if (i < stages) multiply(ahead[i], i);
      for (std::uint32_t i = kShape.ahead; i < stages; ++i) multiply(take(), i);
      hand_over();
      for (std::uint32_t strip = 1; strip < share_.strips; ++strip) {
        for (std::uint32_t i = 0; i < stages; ++i) multiply(take(), i);
        wait_for_barrier(shared_.read(sum_.place), sum_.parity ^ 1);
        hand_over();
      }
    }
  }

 private:
  static constexpr RelayForm kShape = kForm<kWidth>;
  static constexpr std::uint32_t kWarps = kShape.warps;
  static constexpr std::uint32_t kMostUnits = kShape.input_bytes / kUnit / 32;  // of x, a lane
  static constexpr bool kNarrow = kWidth == 8;
  static constexpr std::uint32_t kUnitsOfStage = 2 * kDepth<kWidth> / kUnit;  // of x

  __device__ Weights take() {
    wait_for_barrier(shared_.full(warp_, stage_.place), stage_.parity);
    Weights weights;
    const std::uint32_t from = shared_.stage(warp_, stage_.place) + kUnit * lane_;
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i) weights.of[i] = load_shared(from + 32 * kUnit * i);
    arrive(shared_.empty(warp_, stage_.place));
    stage_.next(kShape.stages);
    return weights;
  }

  // The warp's part of x, as soon as it is there. What the caller gave is.
  __device__ void bring_inputs(std::uint32_t stages) {
    const std::uint32_t step = share_.step();
    const auto* x =
        reinterpret_cast<const uint4*>(step == 0 ? at_.x : at_.outputs_of(launch_, step - 1));
    const auto from = [&](std::uint32_t unit) {
      return x + (unit / kUnitsOfStage * kWarps + warp_) * kUnitsOfStage + unit % kUnitsOfStage;
    };
    const std::uint32_t units = stages * kUnitsOfStage;
    uint4 values[kMostUnits];
#pragma unroll
    for (std::uint32_t i = 0; i < kMostUnits; ++i)
      if (lane_ + 32 * i < units) values[i] = load_relaxed(from(lane_ + 32 * i));
    __syncwarp();  // nobody multiplies with the last x any more
#pragma unroll
    for (std::uint32_t i = 0; i < kMostUnits; ++i)
      if (lane_ + 32 * i < units) {
        while (step > 0 && !is_there(values[i])) values[i] = load_relaxed(from(lane_ + 32 * i));
        store_shared(shared_.inputs(warp_) + kUnit * (lane_ + 32 * i), values[i]);
      }
    __syncwarp();
  }
  static __device__ bool is_there(const uint4& unit) {
    return unit.x != kNotYet && unit.y != kNotYet && unit.z != kNotYet && unit.w != kNotYet;
  }

  // Weights are the large side, 16 rows; of a narrow strip these are its 8 outputs twice, with the
  // first and the second half of the stage's k, and x is two columns, a half each. Of other
  // columns, 8 there are, nobody reads the sums.
  __device__ void multiply(const Weights& weights, std::uint32_t stage) {
    const std::uint32_t from = inputs_ + stage * kUnit * kUnitsOfStage;
    const uint4 x = load_shared(from), y = load_shared(from + 64);
    add_product(even_, weights.of[0], x.x, x.y);
    add_product(odd_, weights.of[1], y.x, y.y);
    add_product(even_, weights.of[2], x.z, x.w);
    add_product(odd_, weights.of[3], y.z, y.w);
  }
  static __device__ void add_product(float (&sums)[4], const uint4& w, std::uint32_t x0,
                                     std::uint32_t x1) {
    multiply_add(sums, w.x, w.y, w.z, w.w, x0, x1);
  }

  // To the warp that adds up.
  __device__ void hand_over() {
    if (lane_ % 4 == 0) {
      float* to = sums_ + (sum_.place * kWarps + warp_) * kRows + lane_ / 4;
      to[0] = even_[0] + odd_[0];
      to[8] = kNarrow ? even_[3] + odd_[3] : even_[2] + odd_[2];
    }
    arrive_at_named(1 + sum_.place, 32 * (kWarps + 1));
    sum_.next(kRelaySums);
#pragma unroll
    for (int i = 0; i < 4; ++i) even_[i] = odd_[i] = 0;
  }

  const RelayWork& at_;
  const Shared<kWidth>& shared_;
  float* sums_;  // [kRelaySums][warp][kRows]
  Share<kWidth> share_;
  const std::uint32_t launch_, warp_ = threadIdx.x / 32, lane_ = threadIdx.x % 32;
  const std::uint32_t inputs_ =
      shared_.inputs(warp_) + (kNarrow ? lane_ / 4 % 2 * 128 : 0) + lane_ % 4 * kUnit;
  Turn stage_, sum_;
  float even_[4] = {}, odd_[4] = {};  // 32 of every 64 k each
};

// The warp that adds up what the others have of a strip, and writes it where it is waited for.
template <int kWidth>
__device__ void add_up(const RelayWork& at, const Shared<kWidth>& shared, const float* sums,
                       const std::uint16_t* deal, std::uint32_t launch) {
  constexpr std::uint32_t kWarps = kForm<kWidth>.warps;
  const std::uint32_t lane = threadIdx.x % 32;
  Share<kWidth> share{&at, deal};
  Turn turn;
  while (share.next()) {
    const bool last = share.step() + 1 == at.steps();
    __nv_bfloat16* outputs = at.outputs_of(launch, share.step());
    __nv_bfloat16* next_outputs = at.outputs_of(launch + 1, share.step());
    for (std::uint32_t strip = share.first; strip < share.first + share.strips; ++strip) {
      const float* from =
          sums + (turn.place * kWarps + lane / 16 * (kWarps / 2)) * kRows + lane % 16;
      wait_at_named(1 + turn.place, 32 * (kWarps + 1));
      float sum = 0;
#pragma unroll
      for (std::uint32_t i = 0; i < kWarps / 2; ++i) sum += from[i * kRows];
      sum += __shfl_down_sync(~0U, sum, 16);
      if (kWidth == 8) sum += __shfl_down_sync(~0U, sum, 8);
      const float neighbour = __shfl_down_sync(~0U, sum, 1);
      if (lane < kWidth && lane % 2 == 0) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(sum, neighbour);
        const std::uint32_t output = strip * kWidth + lane;
        store_relaxed(outputs + output, reinterpret_cast<const std::uint32_t&>(pair));
        store_relaxed(next_outputs + output, kNotYet);
        if (last) *reinterpret_cast<__nv_bfloat162*>(at.y + output) = pair;
      }
      arrive(shared.read(turn.place));
      turn.next(kRelaySums);
    }
  }
}

// Where the stages of a warp lie, one after the other.
template <int kWidth>
class Walk {
 public:
  __device__ Walk(const RelayWork& at, const std::uint16_t* deal, std::uint32_t warp)
      : at_(&at), share_{&at, deal}, warp_(warp) {
    begin_share();
  }
  __device__ bool done() const { return from_ == nullptr; }
  __device__ const unsigned char* from() const { return from_; }

  __device__ void next() {
    from_ += kWarps * kRelayStageBytes;
    if (--left_ > 0) return;
    from_ += to_next_strip_;
    left_ = stages_;
    if (--strips_ == 0) begin_share();
  }

 private:
  static constexpr std::uint32_t kWarps = kForm<kWidth>.warps;

  __device__ void begin_share() {
    from_ = nullptr;
    do {
      if (!share_.next()) return;
      stages_ = left_ = share_.stages(warp_);
    } while (stages_ == 0);
    const RelayProjection& of = share_.of();
    strips_ = share_.strips;
    from_ = at_->weights + share_.layer * at_->layer_bytes + of.place +
            (std::uint64_t{share_.first} * of.stages + warp_) * kRelayStageBytes;
    to_next_strip_ =
        (std::int64_t{of.stages} - std::int64_t{stages_} * kWarps) * std::int64_t{kRelayStageBytes};
  }

  const RelayWork* at_;
  Share<kWidth> share_;
  std::uint32_t warp_;
  std::uint32_t strips_ = 0, stages_ = 0, left_ = 0;  // of the share; of a strip; of this strip
  const unsigned char* from_ = nullptr;
  std::int64_t to_next_strip_ = 0;
};

// The warp that has weights fetched, a lane for every warp that multiplies. It has little time: the
// copy engine is told of one copy after the other, 50 cycles each, and memory has 2 KiB for a
// multiprocessor every 110.
template <int kWidth, bool kOneByOne>
class Fetcher {
 public:
  __device__ Fetcher(const RelayWork& at, const Shared<kWidth>& shared, const std::uint16_t* deal)
      : shared_(shared), here_(at, deal, lane_), ahead_(here_) {}

  // All lanes look, and none waits for another.
  __device__ void run() {
    for (;;) {
      const bool serves = lane_ < kShape.warps && !here_.done();
      const bool may =
          serves && test_barrier(shared_.empty(lane_, stage_.place), stage_.parity ^ 1);
      if (kOneByOne)
        fetch_one_by_one(may);
      else if (may)
        fetch();
      if (__any_sync(~0U, may)) continue;
      if (!__any_sync(~0U, serves)) return;
      if (!prefetch(serves && lead_ < kLead && all_are_there())) __nanosleep(kNap);
    }
  }

 private:
  static constexpr RelayForm kShape = kForm<kWidth>;

  __device__ void fetch() {
    const std::uint32_t full = shared_.full(lane_, stage_.place);
    arrive_expecting(full, kRelayStageBytes);
    copy_bulk(shared_.stage(lane_, stage_.place), here_.from(), kRelayStageBytes, full);
    stage_.next(kShape.stages);
    here_.next();
    if (lead_ > 0) --lead_;
  }
  __device__ void fetch_one_by_one(bool may) {
    for (std::uint32_t ready = __ballot_sync(~0U, may); ready != 0; ready &= ready - 1) {
      if (1U << lane_ == (ready & -ready)) {
        wait_for_barrier(shared_.empty(lane_, stage_.place), stage_.parity ^ 1);
        fetch();
      }
      __syncwarp();
    }
  }

  // What was asked for has arrived: memory has nothing to do for a warp.
  __device__ bool all_are_there() const {
    const bool wrapped = stage_.place == 0;
    return test_barrier(shared_.full(lane_, wrapped ? kShape.stages - 1 : stage_.place - 1),
                        stage_.parity ^ (wrapped ? 1 : 0));
  }

  // Everybody waits for x, and shared memory is full: L2 is not. A stage of every warp that may.
  __device__ bool prefetch(bool may) {
    if (may && lead_ == 0) ahead_ = here_;
    may = may && !ahead_.done();
    const std::uint32_t who = __ballot_sync(~0U, may);
    if (who == 0) return false;
    constexpr std::uint32_t kLine = 128, kLines = kRelayStageBytes / kLine, kAtOnce = 32 / kLines;
    const auto mine = reinterpret_cast<unsigned long long>(ahead_.from());
    for (std::uint32_t first = 0; first < kShape.warps; first += kAtOnce) {
      const std::uint32_t warp = first + lane_ / kLines;
      const auto* from =
          reinterpret_cast<const char*>(__shfl_sync(~0U, mine, static_cast<int>(warp)));
      if (who >> warp & 1) prefetch_line(from + lane_ % kLines * kLine);
    }
    if (may) {
      ahead_.next();
      ++lead_;
    }
    return true;
  }

  const Shared<kWidth>& shared_;
  const std::uint32_t lane_ = threadIdx.x % 32;  // and the warp that it serves
  Walk<kWidth> here_, ahead_;
  Turn stage_;
  std::uint32_t lead_ = 0;
};

template <int kWidth>
__device__ void init_barriers(const Shared<kWidth>& shared) {
  constexpr std::uint32_t kRing = kForm<kWidth>.warps * kForm<kWidth>.stages;
  for (std::uint32_t i = threadIdx.x; i < kRing; i += kThreads<kWidth>) {
    init_barrier(shared.full(0, i), 1);
    init_barrier(shared.empty(0, i), 32);
  }
  if (threadIdx.x < kRelaySums) init_barrier(shared.read(threadIdx.x), 32);
  publish_barriers();
}

template <int kWidth>
__device__ void forget_barriers(const Shared<kWidth>& shared) {
  constexpr std::uint32_t kAll = 2 * kForm<kWidth>.warps * kForm<kWidth>.stages + kRelaySums;
  for (std::uint32_t i = threadIdx.x; i < kAll; i += kThreads<kWidth>)
    invalidate_barrier(shared.full(0, i));
}

template <int kWidth, bool kOneByOne>
__global__ void __launch_bounds__(kThreads<kWidth>, 1)
    relay_kernel(const __grid_constant__ RelayWork at) {
  extern __shared__ __align__(128) unsigned char memory[];
  constexpr std::uint32_t kWarps = kForm<kWidth>.warps;
  const Shared<kWidth> shared{opaque_shared_address(memory)};
  auto* sums = reinterpret_cast<float*>(memory + kLayout<kWidth>.sums);
  auto* deal = reinterpret_cast<std::uint16_t*>(memory + kLayout<kWidth>.deal);
  const std::uint32_t warp = threadIdx.x / 32;
  init_barriers(shared);
  for (std::uint32_t i = threadIdx.x; i < at.count * (gridDim.x + 1); i += kThreads<kWidth>)
    deal[i] = at.deal[i];
  const std::uint32_t launch = *static_cast<volatile std::uint32_t*>(at.launches);
  __syncthreads();
  if (warp < kWarps)
    Multiplier<kWidth>(at, shared, sums, deal, launch).run();
  else if (warp == kWarps)
    add_up<kWidth>(at, shared, sums, deal, launch);
  else
    Fetcher<kWidth, kOneByOne>(at, shared, deal).run();
  __syncwarp();
  __syncthreads();
  forget_barriers(shared);
  // The last one out counts the launch.
  if (threadIdx.x == 0 && atomicInc(at.launches + 1, gridDim.x - 1) == gridDim.x - 1)
    *static_cast<volatile std::uint32_t*>(at.launches) = launch + 1;
}

using Kernel = void (*)(RelayWork);
constexpr Kernel kKernels[2][2] = {{relay_kernel<8, false>, relay_kernel<8, true>},
                                   {relay_kernel<16, false>, relay_kernel<16, true>}};

// What is in relay_memory_bytes(): the deal, the launches, the outputs.
struct Memory {
  static constexpr std::uint64_t kLine = 1024;  // x in lines of its own: 4 % of a chain
  std::uint64_t launches, outputs, bytes;
  explicit Memory(const RelayPlan& plan)
      : launches((2 * plan.deal.size() + 15) / 16 * 16),
        outputs((launches + 16 + kLine - 1) / kLine * kLine),
        bytes(outputs + 2 * 2 * plan.steps() * plan.pitch()) {}
};

struct Source {
  std::uint64_t k, stages, units;
};

// One thread, the 16 bytes that a lane brings into one product: of two outputs (of a narrow strip:
// of one, in both halves of the stage's k) four consecutive k each. Which k these are is free, as
// long as x is taken likewise: a lane reads 8 of x at a time, for two products.
template <int kWidth>
__global__ void pack(const __nv_bfloat16* weights, const Source from, __nv_bfloat16* packed) {
  constexpr std::uint32_t kUnits = kRelayStageBytes / kUnit;
  const std::uint64_t unit = packed_unit();
  if (unit >= from.units) return;
  const std::uint64_t stage = unit / kUnits % from.stages, strip = unit / kUnits / from.stages;
  const std::uint64_t product = unit % kUnits / 32, lane = unit % 32;
  const std::uint64_t k =
      stage * kDepth<kWidth> + product % 2 * 32 + lane % 4 * 8 + product / 2 * 4;
  for (std::uint32_t i = 0; i < 8; ++i) {  // two k of the one, two of the other, again
    const std::uint64_t second = i / 2 % 2;
    const std::uint64_t output = strip * kWidth + lane / 4 + (kWidth == 8 ? 0 : 8 * second);
    const std::uint64_t at = k + i / 4 * 2 + i % 2 + (kWidth == 8 ? 64 * second : 0);
    packed[8 * unit + i] = weights[output * from.k + at];
  }
}

}  // namespace

cudaError_t relay_prepare() {
  const cudaError_t result = allow_most_shared_memory(kKernels[0]);
  return result == cudaSuccess ? allow_most_shared_memory(kKernels[1]) : result;
}

cudaError_t relay_pack(const RelayPlan& plan, std::uint32_t layer, std::uint32_t projection,
                       const void* weights, void* packed, cudaStream_t stream) {
  const RelayProjection& of = plan.projections[projection];
  const Source from{of.k, of.stages, of.weight_bytes() / kUnit};
  auto* into = static_cast<unsigned char*>(packed) + layer * plan.layer_bytes() + of.place;
  return launch_packing(plan.form.width == 8 ? pack<8> : pack<16>, from.units, stream,
                        static_cast<const __nv_bfloat16*>(weights), from,
                        reinterpret_cast<__nv_bfloat16*>(into));
}

std::uint64_t relay_memory_bytes(const RelayPlan& plan) {
  return Memory(plan).bytes;
}

cudaError_t relay_ready(const RelayPlan& plan, void* memory, cudaStream_t stream) {
  const Memory at(plan);
  auto* bytes = static_cast<unsigned char*>(memory);
  cudaError_t result = cudaMemcpyAsync(bytes, plan.deal.data(), 2 * plan.deal.size(),
                                       cudaMemcpyHostToDevice, stream);
  if (result == cudaSuccess) result = cudaMemsetAsync(bytes + at.launches, 0, 16, stream);
  if (result == cudaSuccess)
    result = cudaMemsetAsync(bytes + at.outputs, 0xff, at.bytes - at.outputs, stream);
  return result == cudaSuccess ? cudaStreamSynchronize(stream) : result;
}

cudaError_t relay_run(const RelayPlan& plan, const void* packed, const void* x, void* y,
                      void* memory, cudaStream_t stream, RelayCopies copies) {
  int device = 0, major = 0;
  cudaError_t result = cudaGetDevice(&device);
  if (result == cudaSuccess)
    result = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (result != cudaSuccess) return result;
  if (major < 9) return cudaErrorNotSupported;
  const Memory at(plan);
  auto* bytes = static_cast<unsigned char*>(memory);
  RelayWork work{.weights = static_cast<const unsigned char*>(packed),
                 .x = static_cast<const __nv_bfloat16*>(x),
                 .y = static_cast<__nv_bfloat16*>(y),
                 .launches = reinterpret_cast<std::uint32_t*>(bytes + at.launches),
                 .outputs = reinterpret_cast<__nv_bfloat16*>(bytes + at.outputs),
                 .deal = reinterpret_cast<const std::uint16_t*>(bytes),
                 .layer_bytes = plan.layer_bytes(),
                 .pitch = plan.pitch(),
                 .count = static_cast<std::uint32_t>(plan.projections.size()),
                 .layers = plan.layers,
                 .projections = {}};
  std::copy(plan.projections.begin(), plan.projections.end(), work.projections);
  void* arguments[] = {&work};
  const Kernel kernel =
      kKernels[plan.form.width == 8 ? 0 : 1][copies == RelayCopies::kOneByOne ? 1 : 0];
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(plan.blocks),
                                     dim3(32 * (plan.form.warps + 2)), arguments,
                                     relay_shared_bytes(plan), stream);
}

}  // namespace tare::kernels::cuda
