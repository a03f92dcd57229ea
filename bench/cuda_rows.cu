// Every launch of a projection's cuts against the best of cuBLASLt's algorithms, at every row count
// that is asked for, in one process: which launches lose no row? Arms take turns, on one ring of
// cold weights, in graphs. One line a shape, row count and arm, as JSON Lines, the fastest first.
//
//   bench_cuda_rows TURNS ROWS[,ROWS]... WORDS TYPE [k n]...
//
// WORDS: of our cuts, those whose description has them; "" for all. TYPE as in tare headroom
// --weights. Of cuBLASLt: what its search found at 8 and at 32 rows (bf16). "limit" reads the same
// weights in one launch. Bits are not looked at: tests/kernels/cuda_cut_test.cpp does. A tool to
// choose with, no verdict.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "bench/cuda_trial.cuh"
#include "kernels/cuda/slab.h"
#include "kernels/cuda/stream.h"
#include "modules/cublaslt_search.h"

namespace {

using namespace tare::bench;
using tare::modules::CublasLtChoice;
using tare::modules::CublasLtProblem;

constexpr double kRegionBytes = 4e8;  // of weights a replay, at least kDispatches
constexpr std::uint32_t kSearched[] = {8, 32};
constexpr double kSlowest = 1.25;  // arms slower than so many times the fastest: not printed

class Ring : public ColdRing {
 public:
  explicit Ring(const Shape& shape) : ColdRing(shape), shape_(shape) {
    check(cudaMalloc(&workspace_, tare::modules::kCublasLtWorkspace), "workspace");
    if (shape.weights == TARE_BF16)
      fill<<<1024, 256, 0, stream()>>>(static_cast<__nv_bfloat16*>(slot(kBytes, 0)), kBytes / 2, 1);
    else
      fill_words<<<1024, 256, 0, stream()>>>(static_cast<std::uint32_t*>(slot(kBytes, 0)),
                                             kBytes / 4);
    check(cudaStreamSynchronize(stream()), "data");
  }
  ~Ring() { cudaFree(workspace_); }

  const Shape& shape() const { return shape_; }
  void* workspace() const { return workspace_; }

  // A graph of `record(slot, x, y)` over slots of so many bytes; null where it cannot be launched.
  template <typename Record>
  cudaGraphExec_t graph(std::size_t bytes, Record&& record) {
    return captured([&] {
      bool good = true;
      const auto count = static_cast<std::size_t>(dispatches(bytes));
      for (std::size_t i = 0; i < count && good; ++i) good = record(slot(bytes, i), x(i), y(i));
      return good;
    });
  }
  // One launch that reads the same.
  cudaGraphExec_t limit(const StreamKernel& kernel, std::size_t bytes, unsigned processors) {
    StreamWork work;
    work.ring = slot(bytes, 0);
    work.slot_bytes = bytes / 16 * 16;
    work.slots = slots(bytes);
    work.count = static_cast<std::uint64_t>(dispatches(bytes));
    work.sink = y();
    return captured([&] { return kernel.run(work, processors, stream()) == cudaSuccess; });
  }
  // Microseconds of a dispatch.
  double time(cudaGraphExec_t ready, std::size_t bytes) {
    return 1e6 * clock().time(ready) / dispatches(bytes);
  }

 private:
  // What cannot be launched is passed over, with the error that it left.
  template <typename Record>
  cudaGraphExec_t captured(Record&& record) {
    bool good = true;
    cudaGraphExec_t ready = nullptr;
    good = clock().capture([&] { good = record(); }, ready) == cudaSuccess && good;
    cudaGetLastError();
    if (good) return ready;
    if (ready != nullptr) cudaGraphExecDestroy(ready);
    return nullptr;
  }
  static int dispatches(std::size_t bytes) {
    return std::clamp(static_cast<int>(kRegionBytes / static_cast<double>(bytes)), kDispatches,
                      400);
  }

  Shape shape_;
  void* workspace_ = nullptr;
};

struct Arm {
  std::string name;
  std::size_t bytes = 0;
  cudaGraphExec_t ready = nullptr;
  bool ours = false;
  std::vector<double> us{};
  double median() const { return tare::bench::median(us); }
};

tare_problem problem_of(const Shape& shape, std::uint32_t rows) {
  tare_problem problem{};
  problem.k = shape.k;
  problem.n = shape.n;
  problem.rows = rows;
  problem.weights = shape.weights;
  return problem;
}

void add_cublaslt(Ring& ring, std::uint32_t rows, const std::vector<CublasLtChoice>& choices,
                  std::vector<Arm>& arms) {
  const CublasLtProblem problem(problem_of(ring.shape(), rows));
  const std::size_t bytes = (2 * ring.shape().k * ring.shape().n + 255) / 256 * 256;
  for (const CublasLtChoice& choice : choices) {
    const cudaGraphExec_t ready = ring.graph(bytes, [&](void* weights, void* x, void* y) {
      return problem.run(choice.algorithm, weights, x, y, ring.workspace(), ring.stream()) ==
             CUBLAS_STATUS_SUCCESS;
    });
    if (ready != nullptr) arms.push_back({"cublaslt: " + choice.words, bytes, ready});
  }
}

void add_cuts(Ring& ring, std::uint32_t rows, const std::vector<CutPlan>& plans,
              std::vector<Arm>& arms) {
  for (const CutPlan& plan : plans) {
    const std::size_t bytes = weight_bytes(plan);
    const cudaGraphExec_t ready = ring.graph(bytes, [&](void* weights, void* x, void* y) {
      return cut_run(plan, rows, weights, x, y, {true, ring.stream()}) == cudaSuccess;
    });
    if (ready != nullptr)
      arms.push_back({std::string(kernel_name(plan)) + ": " + describe(plan), bytes, ready, true});
  }
}

// Those that might win.
std::vector<CutPlan> plans_of(const Shape& shape, const std::string& words) {
  std::vector<CutPlan> plans = cut_plans({shape.weights, shape.k, shape.n, true});
  const double bytes = tare::formats::weight_bytes(shape.weights, shape.k, shape.n);
  std::erase_if(plans, [&](const CutPlan& plan) {
    const auto* belt = std::get_if<BeltPlan>(&plan);
    return static_cast<double>(weight_bytes(plan)) > 1.1 * bytes ||
           (belt != nullptr &&
            (belt->warps_k > 1 || belt->strips() > 2 || (belt->few.whole && belt->splits > 2))) ||
           describe(plan).find(words) == std::string::npos || cut_prepare(plan) != cudaSuccess;
  });
  cudaGetLastError();
  return plans;
}

void sweep(const Shape& shape, const std::vector<std::uint32_t>& rows, const std::string& words,
           int turns) {
  Ring ring(shape);
  const std::vector<CutPlan> plans = plans_of(shape, words);
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "processors");
  std::vector<CublasLtChoice> choices;
  if (shape.weights == TARE_BF16)
    for (const std::uint32_t searched : kSearched)
      choices.push_back(tare::modules::fastest_choice(problem_of(shape, searched)));
  const double read = tare::formats::weight_bytes(shape.weights, shape.k, shape.n);
  for (const std::uint32_t count : rows) {
    std::vector<Arm> arms;
    for (const StreamKernel& kernel : stream_kernels())
      arms.push_back(
          {std::string("limit: ") + kernel.name, static_cast<std::size_t>(read),
           ring.limit(kernel, static_cast<std::size_t>(read), static_cast<unsigned>(processors))});
    if (!choices.empty()) add_cublaslt(ring, count, choices, arms);
    add_cuts(ring, count, plans, arms);
    for (int turn = 0; turn < turns; ++turn)
      for (Arm& arm : arms) arm.us.push_back(ring.time(arm.ready, arm.bytes));
    std::ranges::sort(arms, {}, &Arm::median);
    const auto ours = std::ranges::find_if(arms, &Arm::ours);
    const double slowest = kSlowest * (ours == arms.end() ? HUGE_VAL : ours->median());
    for (Arm& arm : arms) {
      cudaGraphExecDestroy(arm.ready);
      if (arm.median() > slowest && arm.ours) continue;
      std::printf(
          "{\"k\": %llu, \"n\": %llu, \"rows\": %u, \"us\": %.3f, \"least\": %.3f, "
          "\"gbps\": %.0f, \"arm\": \"%s\"}\n",
          static_cast<unsigned long long>(shape.k), static_cast<unsigned long long>(shape.n), count,
          arm.median(), std::ranges::min(arm.us), 1e-3 * read / arm.median(), arm.name.c_str());
    }
    std::fflush(stdout);
  }
}

std::vector<std::uint32_t> numbers(const char* text) {
  std::vector<std::uint32_t> all;
  for (char* end = nullptr; *text != '\0'; text = *end == ',' ? end + 1 : end) {
    all.push_back(static_cast<std::uint32_t>(std::strtoul(text, &end, 10)));
    if (end == text) break;
  }
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 7) {
    std::fprintf(stderr, "usage: bench_cuda_rows TURNS ROWS[,ROWS]... WORDS TYPE k n [k n]...\n");
    return 2;
  }
  const int turns = std::atoi(arguments[1]);
  const std::vector<std::uint32_t> rows = numbers(arguments[2]);
  const std::uint32_t weights = tare::formats::type_number(arguments[4]);
  check(slab_support().error, "kernels for this GPU");
  for (int i = 5; i + 1 < count; i += 2)
    sweep({weights, std::strtoull(arguments[i], nullptr, 10),
           std::strtoull(arguments[i + 1], nullptr, 10)},
          rows, arguments[3], turns);
  return 0;
}
