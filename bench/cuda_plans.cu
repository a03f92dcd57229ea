// Every plan of the CUDA kernels at the shapes of two models: which cut of a projection is fastest?
// One line a plan, the fastest first, as JSON Lines. Whether they compute the product is for
// tests/kernels/cuda_cut_test.cpp; here only that rows do not change bits.
//
//   bench_cuda_plans [TYPE] [k n]...      default: bf16, at the shapes of Qwen2.5-1.5B and Qwen3-8B
//                                         up to 34 MB; TYPE as in tare headroom --weights
//
// A tool to choose plans with (docs/kernels/cuda-plans.md); verdicts come from tare headroom.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "formats/weight_format.h"
#include "kernels/cuda/cut.h"
#include "kernels/cuda/slab.h"

namespace {

using namespace tare::kernels::cuda;

constexpr std::size_t kRingBytes = std::size_t{1} << 30U;
constexpr int kDispatches = 48, kTurns = 3;

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

__host__ __device__ std::uint32_t hash(std::uint32_t value) {
  value ^= value >> 16;
  value *= 0x7feb352dU;
  value ^= value >> 15;
  value *= 0x846ca68bU;
  return value ^ value >> 16;
}

__global__ void fill(__nv_bfloat16* into, std::size_t count, std::uint32_t seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const std::uint32_t bits = hash(static_cast<std::uint32_t>(i) * 2654435761U + seed);
    into[i] = __float2bfloat16_rn((static_cast<float>(bits & 0xffff) - 32768.0F) / 32768.0F);
  }
}

struct Shape {
  std::uint32_t weights;
  std::uint64_t k, n;
};

// Codes of any bits, scales and biases of any value: a kernel's time does not depend on them.
__global__ void fill_words(std::uint32_t* into, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    into[i] = hash(static_cast<std::uint32_t>(i) * 2654435761U);
}

class Trial {
 public:
  explicit Trial(Shape shape) : shape_(shape) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
    check(cudaEventCreate(&before_), "event");
    check(cudaEventCreate(&after_), "event");
    const auto& format = tare::formats::format_of(shape.weights);
    const auto layout = tare::formats::layout_of(format, shape.k, shape.n);
    check(cudaMalloc(&raw_, layout.total_bytes), "raw");
    check(cudaMalloc(&x_, 2 * shape.k * kMostCutRows), "x");
    check(cudaMalloc(&y_, 2 * shape.n * kMostCutRows), "y");
    check(cudaMalloc(&ring_, kRingBytes + (std::size_t{256} << 20U)), "ring");
    fill<<<1024, 256, 0, stream_>>>(static_cast<__nv_bfloat16*>(raw_), layout.total_bytes / 2, 1);
    if (format.family != tare::formats::Family::kPlain)
      fill_words<<<1024, 256, 0, stream_>>>(static_cast<std::uint32_t*>(raw_),
                                            layout.code_row * shape.n / 4);
    fill<<<1024, 256, 0, stream_>>>(static_cast<__nv_bfloat16*>(x_), shape.k * kMostCutRows, 2);
    check(cudaStreamSynchronize(stream_), "data");
  }
  ~Trial() {
    for (void* memory : {raw_, x_, y_, ring_}) cudaFree(memory);
    cudaStreamDestroy(stream_);
  }

  // Every slot of the ring holds the same weights, packed: distinct addresses are what makes them
  // cold.
  bool prepare(const CutPlan& plan) {
    if (cut_prepare(plan) != cudaSuccess) {
      cudaGetLastError();
      return false;
    }
    slots_ = std::max<std::size_t>(2, (kRingBytes + weight_bytes(plan) - 1) / weight_bytes(plan));
    check(cut_pack(plan, raw_, ring_, stream_), "pack");
    for (std::size_t slot = 1; slot < slots_; ++slot)
      check(cudaMemcpyAsync(at(plan, slot), ring_, weight_bytes(plan), cudaMemcpyDeviceToDevice,
                            stream_),
            "copy");
    check(cudaStreamSynchronize(stream_), "pack");
    return true;
  }

  std::vector<std::uint16_t> bits(const CutPlan& plan, std::uint32_t rows) {
    check(cudaMemsetAsync(y_, 0xff, 2 * shape_.n * rows, stream_), "poison");
    check(cut_run(plan, rows, ring_, x_, y_, false, stream_), "run");
    std::vector<std::uint16_t> bits(shape_.n * rows);
    check(cudaMemcpyAsync(bits.data(), y_, 2 * bits.size(), cudaMemcpyDeviceToHost, stream_), "y");
    check(cudaStreamSynchronize(stream_), "run");
    return bits;
  }

  // Microseconds of one dispatch, the least of some turns of a graph over the cold ring.
  double time(const CutPlan& plan, std::uint32_t rows, bool programmatic) {
    double least = HUGE_VAL;
    for (int turn = 0; turn < kTurns; ++turn) {
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t ready = nullptr;
      check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capture");
      for (int i = 0; i < kDispatches; ++i)
        check(cut_run(plan, rows, at(plan, cursor_++ % slots_), x_, y_, programmatic, stream_),
              "run");
      check(cudaStreamEndCapture(stream_, &graph), "capture");
      check(cudaGraphInstantiate(&ready, graph, 0), "instantiate");
      check(cudaGraphUpload(ready, stream_), "upload");
      check(cudaEventRecord(before_, stream_), "event");
      check(cudaGraphLaunch(ready, stream_), "launch");
      check(cudaEventRecord(after_, stream_), "event");
      check(cudaStreamSynchronize(stream_), "sync");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, before_, after_), "elapsed");
      least = std::min(least, 1e3 * static_cast<double>(milliseconds) / kDispatches);
      cudaGraphExecDestroy(ready);
      cudaGraphDestroy(graph);
    }
    return least;
  }

 private:
  std::byte* at(const CutPlan& plan, std::size_t slot) const {
    return static_cast<std::byte*>(ring_) + slot * weight_bytes(plan);
  }

  Shape shape_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t before_ = nullptr, after_ = nullptr;
  void *raw_ = nullptr, *x_ = nullptr, *y_ = nullptr, *ring_ = nullptr;
  std::size_t slots_ = 0, cursor_ = 0;
};

constexpr std::uint32_t kRows[] = {1, 8, 16, 32};

struct Line {
  CutPlan plan;
  double us[std::size(kRows)] = {}, plain = 0;
  bool invariant = true;
  double mean() const {
    double logs = 0;
    for (const double one : us) logs += std::log(one);
    return std::exp(logs / std::size(kRows));
  }
};

// Bits of each row are those that it has among all the others.
bool invariant(Trial& trial, const CutPlan& plan) {
  const std::vector<std::uint16_t> all = trial.bits(plan, kMostCutRows);
  return std::ranges::all_of(std::initializer_list<std::uint32_t>{1, 7, 8, 16, 23},
                             [&](std::uint32_t rows) {
                               const auto some = trial.bits(plan, rows);
                               return std::equal(some.begin(), some.end(), all.begin());
                             });
}

void print(const Shape& shape, const Line& line) {
  std::printf("{\"weights\": \"%s\", \"k\": %llu, \"n\": %llu, \"kernel\": \"%s\", \"cut\": \"%s\"",
              std::string(tare::formats::type_name(shape.weights)).c_str(),
              static_cast<unsigned long long>(shape.k), static_cast<unsigned long long>(shape.n),
              kernel_name(line.plan), describe(line.plan).c_str());
  for (std::size_t i = 0; i < std::size(kRows); ++i)
    std::printf(", \"us_%u\": %.3f", kRows[i], line.us[i]);
  std::printf(", \"us_1_plain\": %.3f, \"invariant\": %s}\n", line.plain,
              line.invariant ? "true" : "false");
}

void sweep(Shape shape, bool clusters) {
  Trial trial(shape);
  std::vector<Line> lines;
  const double bytes = tare::formats::weight_bytes(shape.weights, shape.k, shape.n);
  for (const CutPlan& plan : cut_plans({shape.weights, shape.k, shape.n, clusters})) {
    const bool padded = static_cast<double>(weight_bytes(plan)) > 1.1 * bytes;
    if (padded || !trial.prepare(plan)) continue;
    Line line{plan};
    line.invariant = invariant(trial, plan);
    for (std::size_t i = 0; i < std::size(kRows); ++i)
      line.us[i] = trial.time(plan, kRows[i], true);
    line.plain = trial.time(plan, 1, false);
    lines.push_back(line);
  }
  std::ranges::sort(lines, {}, &Line::mean);
  for (const Line& line : lines) print(shape, line);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  int first = 1;
  std::uint32_t weights = count > 1 ? tare::formats::type_number(arguments[1]) : 0;
  if (weights != 0) ++first;
  if (weights == 0) weights = TARE_BF16;
  std::vector<Shape> shapes{{weights, 1536, 1536}, {weights, 1536, 256},  {weights, 4096, 4096},
                            {weights, 4096, 1024}, {weights, 1536, 8960}, {weights, 8960, 1536}};
  if (count > first + 1) shapes.clear();
  for (int i = first; i + 1 < count; i += 2)
    shapes.push_back({weights, std::strtoull(arguments[i], nullptr, 10),
                      std::strtoull(arguments[i + 1], nullptr, 10)});
  const SlabSupport support = slab_support();
  check(support.error, "kernels for this GPU");
  for (const Shape shape : shapes) sweep(shape, support.clusters);
  return 0;
}
