// Every plan of the CUDA kernels at the shapes of two models: which cut of a projection is fastest,
// and does it compute the product? One line a plan and row count, the fastest first, as JSON Lines.
//
//   bench_cuda_plans [k n]...        default: the shapes of Qwen2.5-1.5B and Qwen3-8B up to 34 MB
//
// A tool to choose plans with (docs/kernels/cuda-plans.md); verdicts come from tare headroom.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

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

// One output in double, per thread.
__global__ void reference(const __nv_bfloat16* w, const __nv_bfloat16* x, std::uint64_t k,
                          std::uint64_t n, std::uint32_t rows, double* y) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i >= n * rows) return;
  double sum = 0;
  for (std::uint64_t j = 0; j < k; ++j)
    sum += static_cast<double>(__bfloat162float(w[i % n * k + j])) *
           static_cast<double>(__bfloat162float(x[i / n * k + j]));
  y[i] = sum;
}

struct Shape {
  std::uint64_t k, n;
};

class Trial {
 public:
  explicit Trial(Shape shape) : shape_(shape) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
    check(cudaEventCreate(&before_), "event");
    check(cudaEventCreate(&after_), "event");
    check(cudaMalloc(&raw_, 2 * shape.k * shape.n), "raw");
    check(cudaMalloc(&x_, 2 * shape.k * kMostCutRows), "x");
    check(cudaMalloc(&y_, 2 * shape.n * kMostCutRows), "y");
    check(cudaMalloc(&ring_, kRingBytes + (std::size_t{256} << 20U)), "ring");
    check(cudaMalloc(&truth_, 8 * shape.n * kMostCutRows), "truth");
    fill<<<1024, 256, 0, stream_>>>(static_cast<__nv_bfloat16*>(raw_), shape.k * shape.n, 1);
    fill<<<1024, 256, 0, stream_>>>(static_cast<__nv_bfloat16*>(x_), shape.k * kMostCutRows, 2);
    const std::uint64_t outputs = shape.n * kMostCutRows;
    reference<<<static_cast<unsigned>((outputs + 127) / 128), 128, 0, stream_>>>(
        static_cast<__nv_bfloat16*>(raw_), static_cast<__nv_bfloat16*>(x_), shape.k, shape.n,
        kMostCutRows, static_cast<double*>(truth_));
    truth_host_.resize(outputs);
    check(cudaMemcpyAsync(truth_host_.data(), truth_, 8 * outputs, cudaMemcpyDeviceToHost, stream_),
          "truth");
    check(cudaStreamSynchronize(stream_), "reference");
  }
  ~Trial() {
    for (void* memory : {raw_, x_, y_, ring_, truth_}) cudaFree(memory);
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

  // Largest error over 2^-8 of the magnitude that rounding may take; the outputs' bits.
  double error(const CutPlan& plan, std::uint32_t rows, std::vector<std::uint16_t>& bits) {
    check(cudaMemsetAsync(y_, 0xff, 2 * shape_.n * rows, stream_), "poison");
    check(cut_run(plan, rows, ring_, x_, y_, false, stream_), "run");
    bits.resize(shape_.n * rows);
    check(cudaMemcpyAsync(bits.data(), y_, 2 * bits.size(), cudaMemcpyDeviceToHost, stream_), "y");
    check(cudaStreamSynchronize(stream_), "run");
    double worst = 0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      std::uint32_t word = std::uint32_t{bits[i]} << 16U;
      float value = 0;
      __builtin_memcpy(&value, &word, sizeof value);
      const double slack = std::fabs(truth_host_[i]) / 256 + 1e-6 * static_cast<double>(shape_.k);
      const double off = std::fabs(static_cast<double>(value) - truth_host_[i]) / slack;
      worst = off == off ? std::max(worst, off) : HUGE_VAL;
    }
    return worst;
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
  void *raw_ = nullptr, *x_ = nullptr, *y_ = nullptr, *ring_ = nullptr, *truth_ = nullptr;
  std::vector<double> truth_host_;
  std::size_t slots_ = 0, cursor_ = 0;
};

struct Line {
  CutPlan plan;
  double one = 0, eight = 0, most = 0, plain = 0, error = 0;
  bool invariant = true;
  double mean() const { return std::cbrt(one * eight * most); }
};

// Bits of each row are those of the first row count that had it.
bool invariant(Trial& trial, const CutPlan& plan, double& error) {
  std::vector<std::uint16_t> all, some;
  error = trial.error(plan, kMostCutRows, all);
  bool same = true;
  for (const std::uint32_t rows : {1U, 7U, 8U, 16U, 23U}) {
    trial.error(plan, rows, some);
    same = same && std::equal(some.begin(), some.end(), all.begin());
  }
  return same;
}

void sweep(Shape shape, bool clusters) {
  Trial trial(shape);
  std::vector<Line> lines;
  for (const CutPlan& plan : cut_plans(shape.k, shape.n, clusters)) {
    const std::uint64_t most = 22 * shape.k * shape.n / 10;  // little padding
    if (weight_bytes(plan) > most || !trial.prepare(plan)) continue;
    Line line{plan};
    line.invariant = invariant(trial, plan, line.error);
    line.one = trial.time(plan, 1, true);
    line.eight = trial.time(plan, 8, true);
    line.most = trial.time(plan, kMostCutRows, true);
    line.plain = trial.time(plan, 1, false);
    lines.push_back(line);
  }
  std::ranges::sort(lines, {}, &Line::mean);
  for (const Line& line : lines)
    std::printf(
        "{\"k\": %llu, \"n\": %llu, \"kernel\": \"%s\", \"cut\": \"%s\", \"us_1\": %.3f, \"us_8\": "
        "%.3f, \"us_32\": %.3f, "
        "\"us_1_plain\": %.3f, \"error\": %.3g, \"invariant\": %s}\n",
        static_cast<unsigned long long>(shape.k), static_cast<unsigned long long>(shape.n),
        kernel_name(line.plan), describe(line.plan).c_str(), line.one, line.eight, line.most,
        line.plain, line.error, line.invariant ? "true" : "false");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<Shape> shapes{{1536, 1536}, {1536, 256},  {4096, 4096},
                            {4096, 1024}, {1536, 8960}, {8960, 1536}};
  if (count > 2) shapes.clear();
  for (int i = 1; i + 1 < count; i += 2)
    shapes.push_back(
        {std::strtoull(arguments[i], nullptr, 10), std::strtoull(arguments[i + 1], nullptr, 10)});
  const SlabSupport support = slab_support();
  check(support.error, "kernels for this GPU");
  for (const Shape shape : shapes) sweep(shape, support.clusters);
  return 0;
}
