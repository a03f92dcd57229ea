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

// 8-bit numbers without a dot product: as kernels for AVX2 multiply them. All three instructions
// are said outright: the first two have the same operands in every turn, and would be taken out of
// it.
struct Int8Fma {
  using Vector = __m256i;
  static constexpr std::uint64_t kMultiplyAdds = 32;
  static Vector sum_of(float value) { return _mm256_set1_epi32(static_cast<int>(value)); }
  static Vector factor(float value) { return _mm256_set1_epi8(static_cast<char>(2 * value)); }
  static Vector multiply_add(Vector sum, Vector a, Vector b) {
    const Vector ones = _mm256_set1_epi16(1);
    Vector pairs;
    asm("vpmaddubsw %[b], %[a], %[pairs]\n\t"
        "vpmaddwd %[ones], %[pairs], %[pairs]\n\t"
        "vpaddd %[pairs], %[sum], %[sum]"
        : [sum] "+x"(sum), [pairs] "=&x"(pairs)
        : [a] "x"(a), [b] "x"(b), [ones] "x"(ones));
    return sum;
  }
  static float lowest(Vector sum) {
    return static_cast<float>(_mm_cvtsi128_si32(_mm256_castsi256_si128(sum)));
  }
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
// Ten sums, one of them in the making, two factors and the ones are 14 of 16 registers.
float multiply_add_int8(std::uint64_t multiply_adds) {
  return run_peak<Int8Fma, 10>(multiply_adds);
}
}  // namespace avx2

}  // namespace tare::kernels
