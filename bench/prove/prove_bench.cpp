// How fast rings are filled and outputs compared: bench_prove --benchmark_min_time=0.2
//
// One thread each. Rings of a gigabyte an arm are filled before the first region, and every output
// of a timed region is digested, so both are waited for.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "prove/compare.h"
#include "prove/generator.h"
#include "prove/guard.h"
#include "prove/oracle.h"

namespace tare::prove {
namespace {

constexpr std::size_t kElements = 8 << 20;  // 16 MB of bf16

void set_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(bytes));
}

void generate(benchmark::State& state, const GeneratorPath& path) {
  std::vector<Bf16> data(kElements);
  std::uint64_t slot = 0;
  for (auto _ : state) path.weights(1, slot++, 0, data);
  set_bytes(state, kElements * sizeof(Bf16));
}

void compare_outputs(benchmark::State& state, std::size_t one_in) {
  std::vector<Bf16> a(kElements);
  generate_activations(1, 0, 0, a);
  std::vector<Bf16> b = a;
  for (std::size_t i = 0; one_in != 0 && i < b.size(); i += one_in) b[i] ^= 1U;
  for (auto _ : state) benchmark::DoNotOptimize(compare_bits(a, b));
  set_bytes(state, kElements * sizeof(Bf16));
}
BENCHMARK_CAPTURE(compare_outputs, equal, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare_outputs, differing, 100)->Unit(benchmark::kMillisecond);

void digest_output(benchmark::State& state) {
  std::vector<Bf16> data(kElements);
  generate_activations(1, 0, 0, data);
  for (auto _ : state) benchmark::DoNotOptimize(digest(data));
  set_bytes(state, kElements * sizeof(Bf16));
}
BENCHMARK(digest_output)->Unit(benchmark::kMillisecond);

// As after every region: eight outputs of 4096 x 8.
void check_guards(benchmark::State& state) {
  const GuardedArea layout(std::vector<std::size_t>(8, sizeof(Bf16) * 4096 * 8));
  std::vector<std::byte> memory(layout.total_bytes() + kOutputAlignment);
  const auto misaligned = reinterpret_cast<std::uintptr_t>(memory.data()) % kOutputAlignment;
  const std::span<std::byte> area =
      std::span(memory).subspan((kOutputAlignment - misaligned) % kOutputAlignment);
  layout.write_guards(area);
  for (auto _ : state) benchmark::DoNotOptimize(layout.check_guards(area));
}
BENCHMARK(check_guards)->Unit(benchmark::kMicrosecond);

// One slot of a proof: 64 elements of 4096 columns.
void oracle_of_a_slot(benchmark::State& state) {
  std::vector<Bf16> x(std::size_t{32} * 4096);
  generate_activations(1, 0, 0, x);
  const auto elements = draw_elements(32, 4096, 64, 1);
  for (auto _ : state) benchmark::DoNotOptimize(oracle(x, {TARE_BF16, 4096, 4096, 1, 0}, elements));
}
BENCHMARK(oracle_of_a_slot)->Unit(benchmark::kMicrosecond);

[[maybe_unused]] const bool registered = [] {
  for (const GeneratorPath& path : generator_paths()) {
    benchmark::RegisterBenchmark(("generate_weights/" + path.name).c_str(), generate, path);
  }
  return true;
}();

}  // namespace
}  // namespace tare::prove
