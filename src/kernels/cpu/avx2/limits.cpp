// Streaming reads and multiply-adds on AVX2 and FMA.
#include <immintrin.h>

#include "kernels/cpu/limit_kernels.h"
#include "kernels/cpu/peak.h"
#include "kernels/cpu/stream.h"

namespace tare::kernels {
namespace {

struct Reader {
  struct Line {
    __m256i low;
    __m256i high;
  };
  static void mix(Line& line, const std::byte* from) {
    const auto* half = reinterpret_cast<const __m256i*>(from);
    line.low = _mm256_xor_si256(line.low, _mm256_loadu_si256(half));
    line.high = _mm256_xor_si256(line.high, _mm256_loadu_si256(half + 1));
  }
  static std::uint64_t fold(const Line& line) {
    alignas(32) std::uint64_t word[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(word), _mm256_xor_si256(line.low, line.high));
    return word[0] ^ word[1] ^ word[2] ^ word[3];
  }
};

struct Fma {
  using Vector = __m256;
  static constexpr std::uint64_t kMultiplyAdds = 8;
  static Vector sum_of(float value) { return _mm256_set1_ps(value); }
  static Vector factor(float value) { return _mm256_set1_ps(value); }
  static Vector multiply_add(Vector sum, Vector a, Vector b) { return _mm256_fmadd_ps(a, b, sum); }
  static float lowest(Vector sum) { return _mm256_cvtss_f32(sum); }
};

}  // namespace

namespace avx2 {
std::uint64_t read_paired_nta(const std::byte* from, std::uint64_t bytes) {
  return read_streams<Reader, 2, 4, 1024, Keep::kNowhere>(from, bytes);
}
std::uint64_t read_interleaved(const std::byte* from, std::uint64_t bytes) {
  return read_streams<Reader, 4, 1>(from, bytes);
}
float multiply_add(std::uint64_t multiply_adds) {
  return run_peak<Fma, 12>(multiply_adds);
}
}  // namespace avx2

}  // namespace tare::kernels
