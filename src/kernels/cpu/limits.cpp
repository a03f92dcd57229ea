#include "kernels/cpu/limits.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "kernels/cpu/limit_kernels.h"
#include "kernels/cpu/support.h"

namespace tare::kernels {
namespace {

constexpr std::array kStreams {
#if defined(__x86_64__)
  StreamKernel{"avx512-paired-nta", "AVX-512",
               "two streams a thread, prefetched past the caches 1 KiB ahead", &has_avx512,
               &avx512::read_paired_nta},
      StreamKernel{"avx512-interleaved", "AVX-512", "four streams a thread", &has_avx512,
                   &avx512::read_interleaved},
      StreamKernel{"avx2-paired-nta", "AVX2",
                   "two streams a thread, prefetched past the caches 1 KiB ahead", &has_avx2,
                   &avx2::read_paired_nta},
      StreamKernel{"avx2-interleaved", "AVX2", "four streams a thread", &has_avx2,
                   &avx2::read_interleaved},
#endif
      StreamKernel{"portable-plain", "portable C++", "one stream a thread", &has_any,
                   &portable::read_plain},
};

// Those that multiply bf16 only, kBf16Only of them, come first.
#if defined(__x86_64__)
constexpr std::size_t kBf16Only = 2;
#else
constexpr std::size_t kBf16Only = 0;
#endif
constexpr std::array kPeaks {
#if defined(__x86_64__)
  PeakKernel{"amx",         "AMX BF16",       "tdpbf16ps, 4 tiles of sums",
             &has_amx_bf16, 4 * 16 * 16 * 32, &amx::multiply_add},
      PeakKernel{"avx512bf16",     "AVX-512 BF16", "vdpbf16ps, 24 accumulators",
                 &has_avx512_bf16, 24 * 32,        &avx512bf16::multiply_add},
      PeakKernel{"avx512",    "AVX-512", "vfmadd231ps zmm, 24 accumulators",
                 &has_avx512, 24 * 16,   &avx512::multiply_add},
      PeakKernel{"avx2",    "AVX2 FMA", "vfmadd231ps ymm, 12 accumulators",
                 &has_avx2, 12 * 8,     &avx2::multiply_add},
#endif
      PeakKernel{"portable", "portable C++", "a multiplication and an addition, 12 accumulators",
                 &has_any,   12 * 4,         &portable::multiply_add},
};

constexpr std::array kInt8Peaks {
#if defined(__x86_64__)
  PeakKernel{"amx-int8",    "AMX INT8",       "tdpbusd, 4 tiles of sums",
             &has_amx_int8, 4 * 16 * 16 * 64, &amx::multiply_add_int8},
      PeakKernel{"avx512vnni",     "AVX-512 VNNI", "vpdpbusd zmm, 24 accumulators",
                 &has_avx512_vnni, 24 * 64,        &avx512vnni::multiply_add_int8},
      PeakKernel{"avxvnni",     "AVX VNNI", "vpdpbusd ymm, 12 accumulators",
                 &has_avx_vnni, 12 * 32,    &avxvnni::multiply_add_int8},
      PeakKernel{"avx2-int8", "AVX2",  "vpmaddubsw, vpmaddwd, vpaddd, 10 accumulators",
                 &has_avx2,   10 * 32, &avx2::multiply_add_int8},
#endif
      PeakKernel{"portable-int8", "portable C++", "a multiplication and an addition, 2 x 4 sums",
                 &has_any,        2 * 4,          &portable::multiply_add_int8},
};

}  // namespace

std::span<const StreamKernel> stream_kernels() {
  return kStreams;
}
std::span<const PeakKernel> peak_kernels() {
  return kPeaks;
}

std::span<const PeakKernel> f32_peak_kernels() {
  return peak_kernels().subspan(kBf16Only);
}

std::span<const PeakKernel> int8_peak_kernels() {
  return kInt8Peaks;
}

bool is_outclassed(const StreamKernel& kernel) {
  const auto is_wider = [](const StreamKernel& one) {
    return one.read != &portable::read_plain && one.runs_here();
  };
  return kernel.read == &portable::read_plain &&
         std::any_of(kStreams.begin(), kStreams.end(), is_wider);
}

double measured_rate(const PeakKernel& kernel) {
  using Clock = std::chrono::steady_clock;
  constexpr std::uint64_t kMultiplyAdds = 1 << 20;  // some 20 us on a fast core
  constexpr int kTries = 9;  // the best of them: an interruption only ever slows a try down
  double best = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const auto start = Clock::now();
    const volatile float consumed = kernel.run(kMultiplyAdds);
    static_cast<void>(consumed);
    const std::chrono::duration<double> seconds = Clock::now() - start;
    best = std::max(best, static_cast<double>(kMultiplyAdds) / seconds.count());
  }
  return best;
}

const PeakKernel& fastest_peak(std::span<const PeakKernel> kernels) {
  const PeakKernel* fastest = nullptr;
  double rate = 0;
  for (const auto& kernel : kernels) {
    if (!kernel.runs_here()) continue;
    const double its_rate = measured_rate(kernel);
    if (fastest == nullptr || its_rate > rate) {
      fastest = &kernel;
      rate = its_rate;
    }
  }
  return *fastest;
}

}  // namespace tare::kernels
