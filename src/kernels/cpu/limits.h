// The floors that no kernel can beat: reading the weights, and doing the arithmetic. One kernel an
// idea; which is the fastest on a machine is for a measurement to say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tare::kernels {

// Reads every byte of [from, from + bytes) once and returns a value that depends on all of them, so
// that nothing can be left out. `from` is 64-byte aligned; `bytes` may be anything.
struct StreamKernel {
  const char* name;  // unique, lower case: "avx512-interleaved"
  const char* isa;
  const char* idea;  // one line for a record
  bool (*runs_here)();
  std::uint64_t (*read)(const std::byte* from, std::uint64_t bytes);
};

// Does at least `multiply_adds` multiply-adds from registers, on one thread, and returns a value
// that depends on them: f32-accumulated ones, or int8 ones with 32-bit sums. `step` is what it
// rounds up to.
struct PeakKernel {
  const char* name;  // unique, lower case: "avx512bf16"
  const char* isa;
  const char* idea;
  bool (*runs_here)();
  std::uint64_t step;
  float (*run)(std::uint64_t multiply_adds);
};

// All that were built, widest first; those of absent instruction sets included: ask runs_here().
std::span<const StreamKernel> stream_kernels();
std::span<const PeakKernel> peak_kernels();       // of products of bf16, or of wider factors
std::span<const PeakKernel> f32_peak_kernels();   // of those with a factor that bf16 does not hold
std::span<const PeakKernel> int8_peak_kernels();  // of activations rounded to 8 bits

// Whether a kernel that runs here reads faster on every machine where both were measured: plain C++
// took 13 to 41 % longer than vectors. A short screening may still pick it, and then the floor is
// none (docs/kernels/limits.md).
bool is_outclassed(const StreamKernel& kernel);

// Multiply-adds per second of one thread, right now: the best of a few tenths of a millisecond.
double measured_rate(const PeakKernel& kernel);

// The fastest of them on this machine, found by running them once: not every processor has its peak
// where its newest instruction is (docs/kernels/limits.md). The last one runs everywhere.
const PeakKernel& fastest_peak(std::span<const PeakKernel> kernels);

}  // namespace tare::kernels
