// Every plan of the CUDA kernels at the shapes of two models: which cut of a projection is fastest?
// One line a plan, the fastest first, as JSON Lines. Whether they compute the product is for
// tests/kernels/cuda_cut_test.cpp; here only that rows do not change bits.
//
//   bench_cuda_plans [TYPE] [k n]...      default: bf16, at the shapes of Qwen2.5-1.5B and Qwen3-8B
//                                         up to 34 MB; TYPE as in tare headroom --weights
//
// A tool to choose plans with (docs/kernels/cuda-plans.md); verdicts come from tare headroom.
#include <string>
#include <utility>

#include "bench/cuda_trial.cuh"
#include "kernels/cuda/slab.h"

namespace {

using namespace tare::bench;

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
