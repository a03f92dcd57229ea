// All projections of one token in one graph, each reading what the one before wrote, by a launch a
// projection with programmatic dependent launch or, of one row, by the relay kernel: how near a
// whole decode step comes to reading its weights once. q, k and v are one projection, and gate and
// up; attention, norms and the rest of a model are left out. Prints JSON Lines.
//
//   bench_cuda_chain [rows]...        default: 1 8 32
//
// limit_us: all weights by one launch of the fastest stream kernel; shares go by that.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "bench/cuda_trial.cuh"
#include "kernels/cuda/relay.h"
#include "kernels/cuda/slab.h"
#include "kernels/cuda/stream.h"

namespace {

using namespace tare::bench;

constexpr int kReplays = 7;
constexpr float kLargest = 0.02F;  // about a model's weights

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
    std::uint64_t widest = 0;
    for (const Shape& shape : model.projections) widest = std::max({widest, shape.k, shape.n});
    for (void*& buffer : activations_) {
      check(cudaMalloc(&buffer, 2 * widest * kMostCutRows), "activations");
      fill<<<256, 256, 0, clock_.stream()>>>(static_cast<__nv_bfloat16*>(buffer),
                                             widest * kMostCutRows, 7, kLargest);
    }
    for (int layer = 0; layer < model.layers; ++layer)
      for (const Shape& shape : model.projections) add(shape, clusters);
    check(cudaMalloc(&packed_, packed_bytes_), "weights");
    fill<<<1024, 256, 0, clock_.stream()>>>(static_cast<__nv_bfloat16*>(packed_), packed_bytes_ / 2,
                                            3, kLargest);
    check(cudaStreamSynchronize(clock_.stream()), "data");
  }
  ~Chain() {
    cudaFree(packed_);
    for (void* buffer : activations_) cudaFree(buffer);
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  double bytes() const { return bytes_; }
  // Seconds of one token: the median of some replays.
  double time(std::uint32_t rows, bool programmatic) {
    return typical([&] {
      for (std::size_t i = 0; i < steps_.size(); ++i)
        check(cut_run(steps_[i].plan, rows, at(steps_[i]), activations_[i % 2],
                      activations_[(i + 1) % 2],
                      {.programmatic = programmatic, .stream = clock_.stream()}),
              "run");
    });
  }

  // Seconds of one token of one row by one launch; none where the relay does not take the chain.
  // Weights are random: the same bytes do for either packing.
  std::optional<double> time_relay(unsigned processors) {
    std::vector<RelayShape> layer;
    for (const Shape& shape : model_.projections) layer.push_back({shape.k, shape.n});
    const auto plan = plan_relay(layer, static_cast<std::uint32_t>(model_.layers), processors);
    if (!plan || plan->weight_bytes() > packed_bytes_) return std::nullopt;
    void* memory = nullptr;
    check(cudaMalloc(&memory, relay_memory_bytes(*plan)), "memory");
    check(relay_prepare(), "prepare");
    check(relay_ready(*plan, memory, clock_.stream()), "ready");
    const double seconds = typical([&] {
      check(relay_run(*plan, packed_, activations_[0], activations_[1], memory, clock_.stream()),
            "relay");
    });
    cudaFree(memory);
    return seconds;
  }

  struct Limit {
    double seconds = 1e9;
    const char* kernel = "";
  };
  // Of reading as many bytes, by the fastest stream kernel.
  Limit limit(unsigned processors) {
    Limit least;
    for (const StreamKernel& kernel : stream_kernels()) {
      const double seconds = typical([&] {
        StreamWork work;
        work.ring = packed_;
        work.slot_bytes = packed_bytes_;
        work.sink = activations_[0];
        check(kernel.run(work, processors, clock_.stream()), "stream");
      });
      if (seconds < least.seconds) least = {seconds, kernel.name};
    }
    return least;
  }

 private:
  void add(const Shape& shape, bool clusters) {
    const CutPlan plan = choose_cut_plan({shape.weights, shape.k, shape.n, clusters});
    check(cut_prepare(plan), "prepare");
    steps_.push_back({plan, packed_bytes_});
    packed_bytes_ += (weight_bytes(plan) + 255) / 256 * 256;
    bytes_ += 2.0 * static_cast<double>(shape.k) * static_cast<double>(shape.n);
  }

  // The first replay warms up.
  template <typename Record>
  double typical(Record&& record) {
    std::vector<double> seconds = clock_.times(1 + kReplays, record);
    seconds.erase(seconds.begin());
    return median(seconds);
  }

  void* at(const Step& step) const { return static_cast<std::byte*>(packed_) + step.place; }

  const Model& model_;
  std::vector<Step> steps_;
  double bytes_ = 0;
  void* packed_ = nullptr;
  std::size_t packed_bytes_ = 0;
  void* activations_[2] = {};
  GraphClock clock_;
};

}  // namespace

int main(int count, char** arguments) {
  constexpr std::uint32_t kType = TARE_BF16;
  const std::vector<Model> models{
      {"Qwen2.5-1.5B",
       28,
       {{kType, 1536, 2048}, {kType, 1536, 1536}, {kType, 1536, 17920}, {kType, 8960, 1536}}},
      {"Qwen3-8B",
       36,
       {{kType, 4096, 6144}, {kType, 4096, 4096}, {kType, 4096, 24576}, {kType, 12288, 4096}}}};
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
    const auto [limit, fastest] = chain.limit(static_cast<unsigned>(processors));
    const auto relay = chain.time_relay(static_cast<unsigned>(processors));
    for (const std::uint32_t count_of_rows : rows) {
      const double overlapped = chain.time(count_of_rows, true);
      const double plain = chain.time(count_of_rows, false);
      std::printf(
          "{\"model\": \"%s\", \"rows\": %u, \"gigabytes\": %.3f, \"limit_us\": %.1f, \"limit\": "
          "\"%s\", \"us\": %.1f, \"plain_us\": %.1f, \"share_of_limit\": %.3f",
          model.name, count_of_rows, 1e-9 * chain.bytes(), 1e6 * limit, fastest, 1e6 * overlapped,
          1e6 * plain, limit / overlapped);
      if (count_of_rows == 1 && relay)
        std::printf(", \"relay_us\": %.1f, \"relay_share_of_limit\": %.3f", 1e6 * *relay,
                    limit / *relay);
      std::printf("}\n");
    }
  }
  return 0;
}
