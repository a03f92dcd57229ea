// What it costs to hand a product over to another back end and back: graphs of tiny products, each
// between two element-wise operations, once with all of it on ggml's CPU back end and once with the
// products on ours. Products this small cost next to nothing, so what differs is the hand-over.
//
//   TARE_PLAN=plan GGML_BACKEND_PATH=libggml-tare.so bench_llama_splits
// with a plan that serves q8_0:256x16:1 (build/release/bin/synthetic_plan makes one).
#include <fmt/format.h>
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace {

constexpr int kProducts = 100;
constexpr int kRuns = 400;

struct Backends {
  ggml_backend_t tare = nullptr, cpu = nullptr;
};

struct Bench {
  ggml_backend_sched_t schedule;
  ggml_cgraph* graph;
  int splits = 0;
};

// Each product's 16 outputs are spread over the next one's 256 inputs.
ggml_cgraph* chain(ggml_context* context, ggml_tensor* weights, ggml_tensor* x) {
  ggml_cgraph* graph = ggml_new_graph(context);
  ggml_tensor* last = x;
  for (int i = 0; i < kProducts; ++i) {
    ggml_tensor* y = ggml_mul_mat(context, weights, last);
    last = ggml_scale(context, ggml_repeat(context, y, x), 0.5F);
  }
  ggml_build_forward_expand(graph, last);
  return graph;
}

double microseconds(Bench& bench) {
  std::vector<double> times;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    ggml_backend_sched_graph_compute(bench.schedule, bench.graph);
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return times[kRuns / 2];
}

Bench prepare(std::vector<ggml_backend_t> backends, ggml_cgraph* graph) {
  Bench bench{ggml_backend_sched_new(backends.data(), nullptr, static_cast<int>(backends.size()),
                                     4096, false, false),
              graph};
  ggml_backend_sched_alloc_graph(bench.schedule, graph);
  bench.splits = ggml_backend_sched_get_n_splits(bench.schedule);
  return bench;
}

double time_of(const Backends& backends, bool served, int& splits) {
  ggml_context* fixed = ggml_init({4 * ggml_tensor_overhead(), nullptr, true});
  ggml_tensor* weights = ggml_new_tensor_2d(fixed, GGML_TYPE_Q8_0, 256, 16);
  ggml_backend_buffer_t buffer =
      ggml_backend_alloc_ctx_tensors(fixed, served ? backends.tare : backends.cpu);
  ggml_backend_buffer_set_usage(buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
  const std::vector<char> zeros(ggml_nbytes(weights), 0);
  ggml_backend_tensor_set(weights, zeros.data(), 0, zeros.size());
  ggml_context* context =
      ggml_init({4096 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true});
  ggml_tensor* x = ggml_new_tensor_2d(context, GGML_TYPE_F32, 256, 1);
  ggml_set_input(x);
  Bench bench = served ? prepare({backends.tare, backends.cpu}, chain(context, weights, x))
                       : prepare({backends.cpu}, chain(context, weights, x));
  splits = bench.splits;
  const double time = microseconds(bench);
  ggml_backend_sched_free(bench.schedule);
  ggml_backend_buffer_free(buffer);
  ggml_free(context);
  ggml_free(fixed);
  return time;
}

}  // namespace

int main() {
  ggml_backend_load_all();
  Backends backends;
  backends.cpu = ggml_backend_init_by_name("CPU", nullptr);
  backends.tare = ggml_backend_init_by_name("Tare", nullptr);
  if (backends.tare == nullptr) {
    fmt::print("no back end: set GGML_BACKEND_PATH and TARE_PLAN\n");
    return 1;
  }
  ggml_backend_cpu_set_n_threads(backends.cpu, 2);
  for (int round = 0; round < 5; ++round) {
    int plain_splits = 0, splits = 0;
    const double plain = time_of(backends, false, plain_splits);
    const double served = time_of(backends, true, splits);
    fmt::print("{} products: {:.1f} us in {} split, {:.1f} us in {} splits: {:.2f} us a split\n",
               kProducts, plain, plain_splits, served, splits,
               (served - plain) / (splits - plain_splits));
  }
  return 0;
}
