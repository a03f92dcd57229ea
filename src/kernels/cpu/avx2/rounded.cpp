// The kernel of rounded activations on AVX2: products of 16-bit integers, so that none saturates.
#include <immintrin.h>

#include <cstring>

#include "kernels/cpu/paths.h"
#include "kernels/cpu/rounded.h"

namespace tare::kernels {
namespace {

struct RoundedAvx2 {
  using Vector = __m256;
  using Sums = __m256i;
  struct Codes {
    __m256i even, odd;  // of the four in a lane, as 16-bit integers
  };
  static constexpr std::size_t kLanes = 8;
  // Two groups to a step of x: a tile holds their products beside their sums.
  template <std::size_t Parts>
  static constexpr std::size_t kMostRows = Parts == 1 ? 4 : 2;
  template <std::size_t Parts>
  static constexpr std::size_t columns(std::size_t) {
    return 2;
  }

  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* into, Vector value) { _mm256_storeu_ps(into, value); }
  static Vector spread(float value) { return _mm256_set1_ps(value); }
  static Vector times(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
  static Vector fused(Vector sum, Vector a, Vector b) { return _mm256_fmadd_ps(a, b, sum); }
  static Vector f16(const std::byte* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  template <bool Unsigned>
  static Vector bytes(const std::byte* from) {
    const __m128i all = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return _mm256_cvtepi32_ps(Unsigned ? _mm256_cvtepu8_epi32(all) : _mm256_cvtepi8_epi32(all));
  }
  static Sums start(std::int32_t value) { return _mm256_set1_epi32(value); }
  static Vector as_float(Sums sums) { return _mm256_cvtepi32_ps(sums); }

  template <unsigned Bits>
  static Codes codes(const std::byte* from, std::size_t column) {
    const std::size_t sixteen = column / 2, half = column % 2;  // outputs as they are packed
    __m256i all = load_bytes(from + (Bits == 8 ? 32 * column : sixteen / 2 * 64 + half * 32));
    if constexpr (Bits != 8) {
      if (sixteen % 2 != 0) all = _mm256_srli_epi16(all, 4);
      all = _mm256_and_si256(all, _mm256_set1_epi8(15));
    }
    if constexpr (Bits == 5) {
      all = _mm256_or_si256(all, fifth_bits(from + 128 + 8 * sixteen + 4 * half));
    } else if constexpr (Bits == 6) {
      const __m256i tops = load_bytes(from + 128 + 32 * half);
      const auto count = _mm_cvtsi32_si128(static_cast<int>(2 * sixteen));
      const __m256i own = _mm256_and_si256(_mm256_srl_epi16(tops, count), _mm256_set1_epi8(3));
      all = _mm256_or_si256(all, _mm256_slli_epi16(own, 4));
    }
    return {_mm256_and_si256(all, _mm256_set1_epi16(255)), _mm256_srli_epi16(all, 8)};
  }
  static __m256i load_bytes(const std::byte* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  // 32 bits as bytes of 16 or 0.
  static __m256i fifth_bits(const std::byte* from) {
    std::int32_t bits;
    std::memcpy(&bits, from, sizeof bits);
    const __m256i which = _mm256_set_epi64x(0x0303030303030303, 0x0202020202020202,
                                            0x0101010101010101, 0x0000000000000000);
    const __m256i own = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
    const __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32(bits), which);
    const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(spread, own), own);
    return _mm256_and_si256(set, _mm256_set1_epi8(16));
  }
  static Sums dot(Sums sums, const Codes& codes, Quad x) {
    const __m256i four = _mm256_set1_epi32(static_cast<int>(x));
    const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(four, 8), 8);
    const __m256i odd = _mm256_srai_epi16(four, 8);
    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(codes.even, even));
    return _mm256_add_epi32(sums, _mm256_madd_epi16(codes.odd, odd));
  }
};

}  // namespace

const GroupedPath kAvx2Rounded{
    .name = "avx2",
    .isa = "AVX2 FMA",
    .tile = "4x16 int32 by vpmaddwd",
    .scratch_bytes = &RoundedScratch::bytes,
    .run = &run_rounded<RoundedAvx2>,
};

}  // namespace tare::kernels
