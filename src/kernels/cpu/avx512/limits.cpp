// Streaming reads and multiply-adds on AVX-512F.
#include <immintrin.h>

#include "kernels/cpu/limit_kernels.h"
#include "kernels/cpu/peak.h"
#include "kernels/cpu/stream.h"

namespace tare::kernels {
namespace {

struct Reader {
  using Line = __m512i;
  static void mix(Line& line, const std::byte* from) {
    line = _mm512_xor_si512(line, _mm512_loadu_si512(from));
  }
  static std::uint64_t fold(Line line) {
    alignas(64) std::uint64_t word[8];
    _mm512_store_si512(word, line);
    std::uint64_t all = 0;
    for (const auto one : word) all ^= one;
    return all;
  }
};

struct Fma {
  using Vector = __m512;
  static constexpr std::uint64_t kMultiplyAdds = 16;
  static Vector sum_of(float value) { return _mm512_set1_ps(value); }
  static Vector factor(float value) { return _mm512_set1_ps(value); }
  static Vector multiply_add(Vector sum, Vector a, Vector b) { return _mm512_fmadd_ps(a, b, sum); }
  static float lowest(Vector sum) { return _mm512_cvtss_f32(sum); }
};

}  // namespace

namespace avx512 {
std::uint64_t read_paired_nta(const std::byte* from, std::uint64_t bytes) {
  return read_streams<Reader, 2, 4, 1024, Keep::kNowhere>(from, bytes);
}
std::uint64_t read_interleaved(const std::byte* from, std::uint64_t bytes) {
  return read_streams<Reader, 4, 2>(from, bytes);
}
float multiply_add(std::uint64_t multiply_adds) {
  return run_peak<Fma, 24>(multiply_adds);
}
}  // namespace avx512

}  // namespace tare::kernels
