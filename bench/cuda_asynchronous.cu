// Would 4-bit weights of many outputs be decoded faster if tensor core products ran in the
// background (wgmma, codes from registers) instead of one after the other (mma.sync)? A kernel of
// its own: MLX affine int4 in groups of 64, one row, k = 4096; thread blocks that stay, one to
// four a multiprocessor, so that several dispatches can run at a time. Prints JSON Lines:
//
//   bits      outputs of 64 k in which the two kinds of product differ, of so many
//   limit     the same bytes in one launch
//   cut       the kernel that Tare has for the shape
//   form      this one: how far its outputs are from sums in double, in half steps of bf16, and
//             microseconds a dispatch; "without copies" (wrong outputs) is what decoding alone
//             takes
//
//   bench_cuda_asynchronous [n]...       default: 24576 98304
//
// docs/kernels/cuda-grouped.md has what came of it.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "bench/cuda_trial.cuh"
#include "kernels/cuda/grouped_math.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/ptx.cuh"
#include "kernels/cuda/slab.h"
#include "kernels/cuda/stream.h"
#include "kernels/cuda/turn.cuh"

namespace {

using namespace tare::bench;

constexpr std::uint32_t kDepth = 4096, kOutputs = 64;  // k; outputs of a strip: of a warpgroup
constexpr std::uint32_t kUnits = 4;                    // of 64 k, in a stage
constexpr std::uint32_t kStages = kDepth / (kUnits * kUnitDepth);  // of a strip
constexpr std::uint32_t kCodeBytes = kOutputs * kUnits * kUnitDepth / 2;
constexpr std::uint32_t kStageBytes = kCodeBytes + kOutputs * kUnits * 4;
constexpr std::uint32_t kStripBytes = kStages * kStageBytes;
constexpr std::uint32_t kSumPlaces = 2;  // strips whose sums are not added up yet

// sums[64 x 8] += a[64 x 16] . b[16 x 8], a from registers of the four warps. b: two units of 16
// bytes, each 8 k of a row of x; the matrix' other rows begin 16 bytes further on each, and mean
// nothing.
__device__ __forceinline__ void multiply_add_background(float (&sums)[4],
                                                        const std::uint32_t (&a)[4],
                                                        std::uint64_t b, bool kept) {
#ifdef TARE_WARPGROUP_PRODUCTS
  const std::uint32_t flag = kept ? 1 : 0;
  asm volatile(
      "{\n .reg .pred p;\n setp.ne.b32 p, %9, 0;\n"
      " wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "%8, p, 1, 1, 0;\n}"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(flag));
#endif
}
// Where x lies, in units of 16 bytes from the beginning of shared memory. What it is made of must
// be the same for all lanes, and the compiler must see that: else it takes six instructions for
// each.
__device__ __forceinline__ std::uint64_t row_of_x(std::uint32_t unit) {
  constexpr std::uint64_t kNext = 1;  // unit, from 8 k to the next and from 8 rows to the next
  return kNext << 32 | (std::uint32_t{kNext} << 16 | unit);
}
// The same in all lanes of a warp, and known to be.
__device__ __forceinline__ std::uint32_t uniform(std::uint32_t value) {
  return __shfl_sync(~0U, value, 0);
}
// What this thread wrote into shared memory, for whom it meets at a barrier next.
__device__ __forceinline__ void show_to_products() {
#ifdef TARE_WARPGROUP_PRODUCTS
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
// What a batch wrote is there from here on, also for the compiler.
__device__ __forceinline__ void settle(float (&sums)[4]) {
  asm volatile("" : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])::"memory");
}

// ---- do both kinds of product round alike?

// A block: 64 outputs, 8 rows, 64 k; operands as kernels have them, 128 + code times bf16.
__global__ void compare_bits(std::uint32_t seed, unsigned long long* different) {
  __shared__ __align__(128) std::uint32_t x[8 * kUnitDepth / 2];  // [8 k][row][k]
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  for (std::uint32_t i = threadIdx.x; i < 8 * kUnitDepth / 2; i += blockDim.x) {
    const std::uint32_t bits = hash(seed + 977 * (blockIdx.x * 256 + i));
    // Signs and seven bits as they come, sizes over 2^16.
    x[i] = (bits & 0x807f807fU) | (0x3800U + (bits >> 8 & 0x780U)) |
           (0x3800U + (bits >> 12 & 0x780U)) << 16;
  }
  show_to_products();
  __syncthreads();
  Operand w;
  for (std::uint32_t product = 0; product < kProducts; ++product)
    for (std::uint32_t i = 0; i < 4; ++i)
      w[product][i] = masked_128<0x000f000fU>(hash(seed ^ (thread * 16 + product * 4 + i)));
  float one_by_one[4] = {}, background[4] = {};
  for (std::uint32_t product = 0; product < kProducts; ++product) {
    const std::uint32_t* at = x + product * 64 + lane / 4 * 4 + lane % 4;
    multiply_add(one_by_one, w[product][0], w[product][1], w[product][2], w[product][3], at[0],
                 at[32]);
  }
  constexpr std::uint64_t kEightRows = 128 / 16;  // from 8 k to the next
  const std::uint64_t b = kEightRows << 32 | kEightRows << 16 | (shared_address(x) & 0x3ffff) >> 4;
  begin_batch();
#pragma unroll
  for (std::uint32_t product = 0; product < kProducts; ++product)
    multiply_add_background(background, w[product], b + 2 * kEightRows * product, product > 0);
  end_batch();
  wait_for_batches<0>();
  settle(background);
  unsigned long long unlike = 0;
  for (int i = 0; i < 4; ++i)
    unlike += __float_as_uint(one_by_one[i]) != __float_as_uint(background[i]) ? 1 : 0;
  if (unlike > 0) atomicAdd(different, unlike);
}

// ---- the kernel

struct Work {
  const unsigned char* weights;  // [strip][stage]
  const __nv_bfloat16* x;
  __nv_bfloat16* y;
  std::uint32_t strips;
  std::uint32_t late;  // eighths of a thread block's stages, after which the next may start
  bool copies = true;  // else shared memory is taken as it is
};

// `groups` warpgroups share a strip's stages; `places` of a stage each.
template <int kGroups, int kBlocks>
struct Form {
  static constexpr std::uint32_t kShared = (228U << 10U) / kBlocks - (1U << 10U);
  static constexpr std::uint32_t kBarriers = 512;
  static constexpr std::uint32_t kPadding = 128;  // before x: rows of an operand that nobody reads
  static constexpr std::uint32_t kInputs = kBarriers + kPadding;
  static constexpr std::uint32_t kTotals = kInputs + 2 * kDepth + kPadding;
  static constexpr std::uint32_t kSums = kTotals + 4 * kDepth / kUnitDepth;
  static constexpr std::uint32_t kRings =
      (kSums + 4 * kSumPlaces * kGroups * kOutputs + 127) / 128 * 128;
  static constexpr std::uint32_t kPlaces = (kShared - kRings) / (kGroups * kStageBytes);
  static constexpr std::uint32_t kBytes = kRings + kGroups * kPlaces * kStageBytes;
  static constexpr std::uint32_t kThreads = 128 * kGroups + 64;  // one adds up, one fetches
  static_assert(kStages % kGroups == 0 && kPlaces >= 2 &&
                8 * (2 * kGroups * kPlaces + kSumPlaces) <= kBarriers);

  std::uint32_t address;

  __device__ std::uint32_t stage(std::uint32_t group, std::uint32_t place) const {
    return address + kRings + (group * kPlaces + place) * kStageBytes;
  }
  __device__ std::uint32_t full(std::uint32_t group, std::uint32_t place) const {
    return address + 8 * (group * kPlaces + place);
  }
  __device__ std::uint32_t empty(std::uint32_t group, std::uint32_t place) const {
    return full(kGroups + group, place);
  }
  __device__ std::uint32_t read(std::uint32_t place) const { return full(2 * kGroups, place); }
};

// Strips of this thread block: first, and how many.
struct Share {
  std::uint32_t first, count;
  __device__ explicit Share(std::uint32_t strips)
      : first(static_cast<std::uint32_t>(std::uint64_t{blockIdx.x} * strips / gridDim.x)),
        count(static_cast<std::uint32_t>((blockIdx.x + std::uint64_t{1}) * strips / gridDim.x) -
              first) {}
};

// The thread that fetches for a warpgroup: its stages of every strip.
template <int kGroups, int kBlocks>
__device__ void fetch(const Work& at, const Form<kGroups, kBlocks>& shared, std::uint32_t group) {
  using Shape = Form<kGroups, kBlocks>;
  const Share share(at.strips);
  const std::uint32_t stages = kStages / kGroups * share.count;
  const std::uint32_t asked = (stages * at.late + 7) / 8;
  const unsigned char* from =
      at.weights + std::uint64_t{share.first} * kStripBytes + group * kStageBytes;
  Turn turn;
  for (std::uint32_t stage = 0; stage < stages; ++stage, from += kGroups * kStageBytes) {
    wait_for_barrier(shared.empty(group, turn.place), turn.parity ^ 1);
    if (at.copies) {
      arrive_expecting(shared.full(group, turn.place), kStageBytes);
      copy_bulk(shared.stage(group, turn.place), from, kStageBytes, shared.full(group, turn.place));
    } else {
      arrive(shared.full(group, turn.place));
    }
    if (stage + 1 == asked) let_successors_start();
    turn.next(Shape::kPlaces);
  }
}

// x to shared memory, and its sums over units as mma has them, by all warps that multiply.
template <int kGroups, int kBlocks>
__device__ void bring_inputs(const Work& at, const Form<kGroups, kBlocks>& shared,
                             unsigned char* memory) {
  using Shape = Form<kGroups, kBlocks>;
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  constexpr std::uint32_t kWarps = 4 * kGroups, kMine = kDepth / 8 / (32 * kWarps);
  static_assert(kMine >= 1);
  wait_for_predecessors();
  uint4 values[kMine];
#pragma unroll
  for (std::uint32_t i = 0; i < kMine; ++i)
    values[i] = load_relaxed(reinterpret_cast<const uint4*>(at.x) + (warp * kMine + i) * 32 + lane);
#pragma unroll
  for (std::uint32_t i = 0; i < kMine; ++i)
    store_shared(shared.address + Shape::kInputs + 16 * ((warp * kMine + i) * 32 + lane),
                 values[i]);
  __syncwarp();
  // Of what this warp brought: 4 units in each 512 bytes.
  const auto* x = reinterpret_cast<const std::uint32_t*>(memory + Shape::kInputs);
  auto* totals = reinterpret_cast<float*>(memory + Shape::kTotals);
#pragma unroll
  for (std::uint32_t i = 0; i < 4 * kMine; ++i) {
    const std::uint32_t unit = 4 * kMine * warp + i;
    float total[4] = {};
#pragma unroll
    for (std::uint32_t product = 0; product < kProducts; ++product)
      multiply_add(total, kOnes, kOnes, kOnes, kOnes, x[unit * 32 + product * 8 + lane % 4],
                   x[unit * 32 + product * 8 + 4 + lane % 4]);
    if (lane == 0) totals[unit] = total[0];
  }
  show_to_products();
  wait_at_named(1 + kSumPlaces, 32 * kWarps);
}

// A warp of a warpgroup: 16 outputs of every strip. A batch is `kBatch` units; the products of one
// run while the next one's codes are decoded.
template <int kGroups, int kBlocks, int kBatch>
class Multiplier {
 public:
  __device__ Multiplier(const Work& at, const Form<kGroups, kBlocks>& shared, unsigned char* memory)
      : at_(at), shared_(shared), memory_(memory) {}

  __device__ void run() {
    const Share share(at_.strips);
    bring_inputs(at_, shared_, memory_);
    for (std::uint32_t strip = 0; strip < share.count; ++strip) {
#pragma unroll 1
      for (std::uint32_t stage = group_; stage < kStages; stage += kGroups) multiply(stage);
      finish_stage();
      runs_ = false;
      hand_over();
    }
  }

 private:
  using Shape = Form<kGroups, kBlocks>;
  static constexpr int kBatches = kUnits / kBatch;
  static_assert(kBatches % 2 == 0);

  __device__ void multiply(std::uint32_t stage) {
    wait_for_barrier(shared_.full(group_, turn_.place), turn_.parity);
    const std::uint32_t here = shared_.stage(group_, turn_.place);
    uint4 codes[kUnits];
#pragma unroll
    for (int unit = 0; unit < static_cast<int>(kUnits); ++unit)
      codes[unit] = load_shared(here + (unit * 4 + warp_ % 4) * 512 + 16 * lane_);
    const std::uint32_t at = here + kCodeBytes + ((warp_ % 4 * 4 + lane_ % 4) * 8 + lane_ / 4) * 8;
    std::uint32_t scales[2];
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(scales[0]), "=r"(scales[1])
                 : "r"(at)
                 : "memory");
    __syncwarp();
    if (lane_ == 0) arrive(shared_.empty(group_, turn_.place));
    turn_.next(Shape::kPlaces);
#pragma unroll
    for (int batch = 0; batch < kBatches; ++batch) {
      Operand w[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i) decode4(codes[batch * kBatch + i], w[i]);
      wait_for_batches<0>();
      if (batch == 0) {
        finish_stage();
        take(scales, stage);
      } else {
        keep(batch - 1);
      }
      begin_batch();
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const std::uint32_t unit = batch * kBatch + i;
        // The row that means something is the one whose sums lane `unit` of four has.
        const std::uint32_t first = inputs_ + (stage * kUnits + unit) * 8 - 2 * unit;
#pragma unroll
        for (std::uint32_t product = 0; product < kProducts; ++product)
          multiply_add_background(group_sums_[batch % 2][i], w[i][product],
                                  row_of_x(first + 2 * product), product > 0);
      }
      end_batch();
    }
    runs_ = true;
  }

  // Of a batch that is done: each of four lanes keeps the sums of its unit of the stage.
  __device__ void keep(int batch) {
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      float(&sums)[4] = group_sums_[batch % 2][i];
      settle(sums);
      const bool mine = lane_ % 4 == static_cast<std::uint32_t>(batch * kBatch + i);
      mine_[0] = mine ? sums[0] : mine_[0];
      mine_[1] = mine ? sums[2] : mine_[1];
    }
  }
  // The last batch of the stage before, and all of its scales. The first time there is none.
  __device__ void finish_stage() {
    wait_for_batches<0>();
    keep(kBatches - 1);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float sum = fmaf(bias_[i], total_, fmaf(scale_[i], mine_[i], sums_[i]));
      sums_[i] = runs_ ? sum : sums_[i];
    }
  }
  __device__ void take(const std::uint32_t (&scales)[2], std::uint32_t stage) {
    total_ = reinterpret_cast<const float*>(memory_ + Shape::kTotals)[stage * kUnits + lane_ % 4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      scale_[i] = low_half(scales[i]);
      bias_[i] = fmaf(-128.0F, scale_[i], high_half(scales[i]));
    }
  }

  __device__ void hand_over() {
    wait_for_barrier(shared_.read(sum_.place), sum_.parity ^ 1);
    auto* to = reinterpret_cast<float*>(memory_ + Shape::kSums) +
               (sum_.place * kGroups + group_) * kOutputs + warp_ % 4 * 16 + lane_ / 4;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      sums_[i] += __shfl_xor_sync(~0U, sums_[i], 1);
      sums_[i] += __shfl_xor_sync(~0U, sums_[i], 2);
      if (lane_ % 4 == 0) to[8 * i] = sums_[i];
      sums_[i] = 0;
    }
    arrive_at_named(1 + sum_.place, 128 * kGroups + 32);
    sum_.next(kSumPlaces);
  }

  const Work& at_;
  const Shape& shared_;
  unsigned char* memory_;
  const std::uint32_t warp_ = uniform(threadIdx.x / 32), lane_ = threadIdx.x % 32,
                      group_ = warp_ / 4;
  const std::uint32_t inputs_ = shared_address(memory_) / 16 + Shape::kInputs / 16;
  Turn turn_, sum_;
  bool runs_ = false;
  float group_sums_[2][kBatch][4] = {};
  float mine_[2] = {}, scale_[2] = {}, bias_[2] = {}, total_ = 0, sums_[2] = {};
};

template <int kGroups, int kBlocks>
__device__ void add_up(const Work& at, const Form<kGroups, kBlocks>& shared,
                       const unsigned char* memory) {
  using Shape = Form<kGroups, kBlocks>;
  const std::uint32_t lane = threadIdx.x % 32;
  const Share share(at.strips);
  Turn turn;
  for (std::uint32_t strip = share.first; strip < share.first + share.count; ++strip) {
    wait_at_named(1 + turn.place, 128 * kGroups + 32);
    const auto* from = reinterpret_cast<const float2*>(memory + Shape::kSums) +
                       turn.place * kGroups * kOutputs / 2 + lane;
    float2 sum = from[0];
#pragma unroll
    for (int group = 1; group < kGroups; ++group) {
      sum.x += from[group * kOutputs / 2].x;
      sum.y += from[group * kOutputs / 2].y;
    }
    reinterpret_cast<__nv_bfloat162*>(at.y + strip * kOutputs)[lane] =
        __floats2bfloat162_rn(sum.x, sum.y);
    arrive(shared.read(turn.place));
    turn.next(kSumPlaces);
  }
}

template <int kGroups, int kBlocks, int kBatch>
__global__ void __launch_bounds__(128 * kGroups + 64, kBlocks)
    form_kernel(const __grid_constant__ Work at) {
  using Shape = Form<kGroups, kBlocks>;
  extern __shared__ __align__(1024) unsigned char memory[];
  const Shape shared{opaque_shared_address(memory)};
  const std::uint32_t warp = threadIdx.x / 32;
  if (threadIdx.x < kGroups * Shape::kPlaces) {
    init_barrier(shared.full(0, threadIdx.x), 1);
    init_barrier(shared.empty(0, threadIdx.x), 4);
  }
  if (threadIdx.x < kSumPlaces) init_barrier(shared.read(threadIdx.x), 32);
  publish_barriers();
  __syncthreads();
  if (at.late == 0) let_successors_start();
  ask_for_inputs(at.x, 2 * kDepth, 32);
  if (warp < 4 * kGroups)
    Multiplier<kGroups, kBlocks, kBatch>(at, shared, memory).run();
  else if (warp == 4 * kGroups)
    add_up(at, shared, memory);
  else if (threadIdx.x % 32 < kGroups)
    fetch(at, shared, threadIdx.x % 32);
}

// ---- data, and sums in double

float value_of(std::uint16_t bits) {
  return __bfloat162float(__ushort_as_bfloat16(bits));
}
std::uint16_t small_bf16(std::uint32_t bits) {  // of either sign, 2^-9 to 2^-7
  return static_cast<std::uint16_t>((bits & 0x807fU) | 0x3b00U | (bits >> 8U & 0x80U));
}

std::vector<unsigned char> random_weights(std::uint32_t strips) {
  std::vector<unsigned char> all(std::size_t{strips} * kStripBytes);
  for (std::size_t at = 0; at < all.size(); at += 4) {
    std::uint32_t bits = hash(static_cast<std::uint32_t>(at) * 2654435761U + 11);
    if (at % kStageBytes >= kCodeBytes)
      bits = small_bf16(bits) | std::uint32_t{small_bf16(hash(bits))} << 16U;
    std::memcpy(all.data() + at, &bits, 4);
  }
  return all;
}

std::uint32_t word_at(const unsigned char* at) {
  std::uint32_t word = 0;
  std::memcpy(&word, at, 4);
  return word;
}
// sum over a lane's 16 k of a unit, for one of its two outputs, of (scale code + bias) x.
double lane_sum(const unsigned char* codes, std::uint32_t half, double scale, double bias,
                const double* x) {
  double sum = 0;
  for (std::uint32_t product = 0; product < kProducts; ++product) {
    const std::uint32_t word = word_at(codes + 4 * product);
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t eight = i / 2, e = i % 2;
      const std::uint32_t code = word >> (4 * (2 * eight + half) + 16 * e) & 15U;
      sum += (scale * code + bias) * x[16 * product + 8 * eight + e];
    }
  }
  return sum;
}
// Of a strip, from where codes and scales lie.
void exact_strip(const unsigned char* strip, const std::vector<double>& x, double* y) {
  for (std::uint32_t i = 0; i < kStages * kUnits * 4 * 32; ++i) {
    const std::uint32_t stage = i / (kUnits * 128), unit = i / 128 % kUnits;
    const std::uint32_t warp = i / 32 % 4, lane = i % 32;
    const unsigned char* here = strip + stage * kStageBytes;
    const unsigned char* scales = here + kCodeBytes + ((warp * 4 + unit) * 8 + lane / 4) * 8;
    for (std::uint32_t half = 0; half < 2; ++half) {
      const std::uint32_t pair = word_at(scales + 4 * half);
      y[warp * 16 + half * 8 + lane / 4] +=
          lane_sum(here + (unit * 4 + warp) * 512 + lane * 16, half,
                   static_cast<double>(value_of(static_cast<std::uint16_t>(pair))),
                   static_cast<double>(value_of(static_cast<std::uint16_t>(pair >> 16U))),
                   x.data() + (stage * kUnits + unit) * kUnitDepth + lane % 4 * 2);
    }
  }
}
std::vector<double> exact_outputs(const std::vector<unsigned char>& weights, std::uint32_t strips,
                                  const std::vector<std::uint16_t>& x) {
  std::vector<double> wide(x.size()), y(std::size_t{strips} * kOutputs);
  std::ranges::transform(x, wide.begin(),
                         [](std::uint16_t bits) { return double{value_of(bits)}; });
  std::vector<std::jthread> threads;
  const std::uint32_t count = std::max(1U, std::thread::hardware_concurrency());
  for (std::uint32_t thread = 0; thread < count; ++thread)
    threads.emplace_back([&, thread] {
      for (std::uint32_t strip = thread; strip < strips; strip += count)
        exact_strip(weights.data() + std::size_t{strip} * kStripBytes, wide,
                    y.data() + std::size_t{strip} * kOutputs);
    });
  threads.clear();
  return y;
}

// ---- a shape

constexpr int kInARing = 20, kInAGraph = 40, kReplays = 9;

class Problem {
 public:
  explicit Problem(std::uint32_t n) : strips_(n / kOutputs) {
    const std::vector<unsigned char> weights = random_weights(strips_);
    std::vector<std::uint16_t> x(kDepth);
    for (std::uint32_t i = 0; i < kDepth; ++i)
      x[i] = static_cast<std::uint16_t>(small_bf16(hash(i * 40503U + 5)) + (7U << 7U));
    exact_ = exact_outputs(weights, strips_, x);
    sets_ = static_cast<std::uint32_t>(std::max<std::size_t>(2, kInARing * 24576ULL / n));
    check(cudaMalloc(&ring_, sets_ * weights.size()), "weights");
    check(cudaMalloc(&x_, 2 * kDepth), "x");
    check(cudaMalloc(&y_, 2 * exact_.size()), "y");
    for (std::uint32_t set = 0; set < sets_; ++set)
      check(cudaMemcpy(ring_ + set * weights.size(), weights.data(), weights.size(),
                       cudaMemcpyHostToDevice),
            "weights");
    check(cudaMemcpy(x_, x.data(), 2 * kDepth, cudaMemcpyHostToDevice), "x");
    check(cudaGetDevice(&device_), "device");
    check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device_), "device");
  }
  ~Problem() {
    for (void* memory : {static_cast<void*>(ring_), x_, y_}) cudaFree(memory);
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  std::uint32_t n() const { return strips_ * kOutputs; }
  std::size_t bytes() const { return std::size_t{strips_} * kStripBytes; }

  void limit() {
    for (const StreamKernel& kernel : stream_kernels()) {
      const StreamWork work{ring_, bytes(), 0, sets_, kInAGraph, y_};
      const std::vector<double> seconds = clock_.times(kReplays, [&] {
        check(kernel.run(work, static_cast<unsigned>(processors_), clock_.stream()), "limit");
      });
      print("limit", kernel.name, seconds, "");
    }
  }

  void cut() {
    const Shape shape{TARE_MLX_INT4_G64, kDepth, n()};
    Trial trial(shape);
    const CutPlan plan = choose_cut_plan({shape.weights, shape.k, shape.n, true});
    if (!trial.prepare(plan)) return;
    std::vector<double> seconds;
    for (int i = 0; i < kReplays; ++i)
      seconds.push_back(1e-6 * trial.time(plan, 1, true) * kInAGraph);
    print("cut", describe(plan).c_str(), seconds, "");
  }

  template <int kGroups, int kBlocks, int kBatch>
  void form() {
    using Shape = Form<kGroups, kBlocks>;
    const auto kernel = form_kernel<kGroups, kBlocks, kBatch>;
    check(allow_most_shared_memory(kernel), "shared memory");
    int at_once = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, kernel, Shape::kThreads,
                                                        Shape::kBytes),
          "occupancy");
    for (const bool copies : {true, false})
      for (const std::uint32_t late : {0U, 4U, 7U}) {
        if (!copies && late > 0) continue;
        const auto run = [&](std::uint32_t set) {
          const Work work{ring_ + std::size_t{set % sets_} * bytes(),
                          static_cast<const __nv_bfloat16*>(x_),
                          static_cast<__nv_bfloat16*>(y_),
                          strips_,
                          late,
                          copies};
          check(
              launch(kernel, work,
                     {static_cast<unsigned>(processors_), Shape::kThreads, 1, Shape::kBytes, true},
                     {true, clock_.stream()}),
              "launch");
        };
        check(cudaMemsetAsync(y_, 0xff, 2 * n(), clock_.stream()), "poison");
        run(0);
        const double worst = copies ? worst_output() : 0;
        const std::vector<double> seconds = clock_.times(kReplays, [&] {
          for (int i = 0; i < kInAGraph; ++i) run(static_cast<std::uint32_t>(i));
        });
        char name[128], more[128];
        std::snprintf(name, sizeof name,
                      "%d warpgroups, %d a multiprocessor (%d fit), %u places, batches of %d, late "
                      "%u/8%s",
                      kGroups, kBlocks, at_once, Shape::kPlaces, kBatch, late,
                      copies ? "" : ", without copies");
        std::snprintf(more, sizeof more, ", \"worst\": %.3f", worst);
        print("form", name, seconds, copies ? more : "");
      }
  }

 private:
  // The largest distance from the sums in double, in half steps of bf16 (a correct rounding of
  // exact sums: 1) and 1e-5, what f32 sums of terms of 1 may lose.
  double worst_output() {
    std::vector<std::uint16_t> y(exact_.size());
    check(cudaMemcpyAsync(y.data(), y_, 2 * y.size(), cudaMemcpyDeviceToHost, clock_.stream()),
          "y");
    check(cudaStreamSynchronize(clock_.stream()), "run");
    double worst = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double truth = exact_[i], half_step = std::fabs(truth) / 256 + 1e-5;
      const double apart = std::fabs(static_cast<double>(value_of(y[i])) - truth) / half_step;
      worst = std::isfinite(apart) ? std::max(worst, apart) : HUGE_VAL;
    }
    return worst;
  }

  void print(const char* kind, const char* name, const std::vector<double>& seconds,
             const char* more) {
    std::printf("{\"%s\": \"%s\", \"n\": %u, \"us\": %.2f, \"least\": %.2f%s}\n", kind, name, n(),
                1e6 * median(seconds) / kInAGraph,
                1e6 * *std::ranges::min_element(seconds) / kInAGraph, more);
    std::fflush(stdout);
  }

  std::uint32_t strips_, sets_ = 0;
  int device_ = 0, processors_ = 0;
  unsigned char* ring_ = nullptr;
  void *x_ = nullptr, *y_ = nullptr;
  std::vector<double> exact_;
  GraphClock clock_;
};

void compare() {
  constexpr unsigned kBlocks = 4096;
  unsigned long long *different = nullptr, count = 0;
  check(cudaMalloc(&different, sizeof *different), "bits");
  check(cudaMemset(different, 0, sizeof *different), "bits");
  compare_bits<<<kBlocks, 128>>>(12345, different);
  check(cudaMemcpy(&count, different, sizeof count, cudaMemcpyDeviceToHost), "bits");
  cudaFree(different);
  std::printf("{\"bits\": %llu, \"of\": %u}\n", count, kBlocks * 512);
}

}  // namespace

int main(int count, char** arguments) {
  check(slab_support().error, "kernels for this GPU");
  compare();
  std::vector<std::uint32_t> shapes;
  for (int i = 1; i < count; ++i)
    shapes.push_back(static_cast<std::uint32_t>(std::strtoul(arguments[i], nullptr, 10)));
  if (shapes.empty()) shapes = {24576, 98304};
  for (const std::uint32_t n : shapes) {
    if (n == 0 || n % kOutputs != 0) {
      std::fprintf(stderr, "n is %u: a multiple of %u, please\n", n, kOutputs);
      return 2;
    }
    Problem problem(n);
    problem.limit();
    problem.cut();
    problem.form<2, 2, 1>();
    problem.form<2, 2, 2>();
    problem.form<1, 4, 1>();
    problem.form<4, 1, 1>();
    problem.form<4, 1, 2>();
    problem.limit();
  }
  return 0;
}
