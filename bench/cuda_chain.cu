// All projections of one token in one graph, each reading what the one before wrote, with
// programmatic dependent launch: how near a whole decode step comes to reading its weights once. q,
// k and v are one projection, and gate and up; attention, norms and the rest of a model are left
// out. Prints JSON Lines.
//
//   bench_cuda_chain [rows]...        default: 1 8 32
//
// limit_us: all weights by one launch of the fastest stream kernel; share_of_limit goes by that.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels/cuda/cut.h"
#include "kernels/cuda/slab.h"
#include "kernels/cuda/stream.h"

namespace {

using namespace tare::kernels::cuda;

constexpr int kTurns = 7;

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

// Values of a weight's size, no two alike nearby: data decides what a chip draws, and so its clock.
__global__ void fill(__nv_bfloat16* into, std::size_t count, std::uint32_t seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    std::uint32_t bits = static_cast<std::uint32_t>(i) * 2654435761U + seed;
    bits ^= bits >> 15;
    bits *= 0x846ca68bU;
    bits ^= bits >> 16;
    into[i] = __float2bfloat16_rn((static_cast<float>(bits & 0xffff) - 32768.0F) / 1.6e6F);
  }
}

struct Shape {
  std::uint64_t k, n;
};

struct Model {
  const char* name;
  int layers;
  std::vector<Shape> projections;  // of a layer, in their order
};

struct Step {
  CutPlan plan;
  std::size_t place;  // of its weights
};

class Chain {
 public:
  Chain(const Model& model, bool clusters) : model_(model) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
    check(cudaEventCreate(&before_), "event");
    check(cudaEventCreate(&after_), "event");
    std::uint64_t widest = 0;
    for (const Shape shape : model.projections) widest = std::max({widest, shape.k, shape.n});
    for (void*& buffer : activations_) {
      check(cudaMalloc(&buffer, 2 * widest * kMostCutRows), "activations");
      fill<<<256, 256, 0, stream_>>>(static_cast<__nv_bfloat16*>(buffer), widest * kMostCutRows, 7);
    }
    for (int layer = 0; layer < model.layers; ++layer)
      for (const Shape shape : model.projections) add(shape, clusters);
    check(cudaMalloc(&packed_, packed_bytes_), "weights");
    fill<<<1024, 256, 0, stream_>>>(static_cast<__nv_bfloat16*>(packed_), packed_bytes_ / 2, 3);
    check(cudaStreamSynchronize(stream_), "data");
  }
  ~Chain() {
    cudaFree(packed_);
    for (void* buffer : activations_) cudaFree(buffer);
    cudaStreamDestroy(stream_);
  }

  double bytes() const { return bytes_; }
  // Seconds of one token: the median of some replays.
  double time(std::uint32_t rows, bool programmatic) {
    return median([&] {
      for (std::size_t i = 0; i < steps_.size(); ++i)
        check(cut_run(steps_[i].plan, rows, at(steps_[i]), activations_[i % 2],
                      activations_[(i + 1) % 2], {.programmatic = programmatic, .stream = stream_}),
              "run");
    });
  }

  // Seconds of reading as many bytes, by the fastest stream kernel.
  double limit(unsigned processors) {
    double least = 1e9;
    for (const StreamKernel& kernel : stream_kernels())
      least = std::min(least, median([&] {
                         StreamWork work;
                         work.ring = packed_;
                         work.slot_bytes = packed_bytes_;
                         work.sink = activations_[0];
                         check(kernel.run(work, processors, stream_), "stream");
                       }));
    return least;
  }

 private:
  void add(Shape shape, bool clusters) {
    const CutPlan plan = choose_cut_plan({TARE_BF16, shape.k, shape.n, clusters});
    check(cut_prepare(plan), "prepare");
    steps_.push_back({plan, packed_bytes_});
    packed_bytes_ += (weight_bytes(plan) + 255) / 256 * 256;
    bytes_ += 2.0 * static_cast<double>(shape.k) * static_cast<double>(shape.n);
  }

  template <typename Record>
  double median(Record&& record) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capture");
    record();
    check(cudaStreamEndCapture(stream_, &graph), "capture");
    check(cudaGraphInstantiate(&ready, graph, 0), "instantiate");
    check(cudaGraphUpload(ready, stream_), "upload");
    std::vector<double> seconds;
    for (int turn = 0; turn <= kTurns; ++turn) {
      check(cudaEventRecord(before_, stream_), "event");
      check(cudaGraphLaunch(ready, stream_), "launch");
      check(cudaEventRecord(after_, stream_), "event");
      check(cudaStreamSynchronize(stream_), "sync");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, before_, after_), "elapsed");
      if (turn > 0) seconds.push_back(1e-3 * static_cast<double>(milliseconds));
    }
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    std::ranges::nth_element(seconds, seconds.begin() + kTurns / 2);
    return seconds[kTurns / 2];
  }

  void* at(const Step& step) const { return static_cast<std::byte*>(packed_) + step.place; }

  const Model& model_;
  std::vector<Step> steps_;
  double bytes_ = 0;
  void* packed_ = nullptr;
  std::size_t packed_bytes_ = 0;
  void* activations_[2] = {};
  cudaStream_t stream_ = nullptr;
  cudaEvent_t before_ = nullptr, after_ = nullptr;
};

}  // namespace

int main(int count, char** arguments) {
  const std::vector<Model> models{
      {"Qwen2.5-1.5B", 28, {{1536, 2048}, {1536, 1536}, {1536, 17920}, {8960, 1536}}},
      {"Qwen3-8B", 36, {{4096, 6144}, {4096, 4096}, {4096, 24576}, {12288, 4096}}}};
  std::vector<std::uint32_t> rows{1, 8, 32};
  if (count > 1) rows.clear();
  for (int i = 1; i < count; ++i)
    rows.push_back(static_cast<std::uint32_t>(std::strtoul(arguments[i], nullptr, 10)));
  const SlabSupport support = slab_support();
  check(support.error, "kernels for this GPU");
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "processors");
  for (const Model& model : models) {
    Chain chain(model, support.clusters);
    const double limit = chain.limit(static_cast<unsigned>(processors));
    for (const std::uint32_t count_of_rows : rows) {
      const double overlapped = chain.time(count_of_rows, true);
      const double plain = chain.time(count_of_rows, false);
      std::printf(
          "{\"model\": \"%s\", \"rows\": %u, \"gigabytes\": %.3f, \"limit_us\": %.1f, \"us\": "
          "%.1f, \"plain_us\": %.1f, \"share_of_limit\": %.3f}\n",
          model.name, count_of_rows, 1e-9 * chain.bytes(), 1e6 * limit, 1e6 * overlapped,
          1e6 * plain, limit / overlapped);
    }
  }
  return 0;
}
