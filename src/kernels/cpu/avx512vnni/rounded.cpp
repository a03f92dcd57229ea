// The kernel of rounded activations on AVX-512 VNNI: vpdpbusd, four products a lane.
#include <immintrin.h>

#include <cstring>

#include "kernels/cpu/paths.h"
#include "kernels/cpu/rounded.h"

namespace tare::kernels {
namespace {

struct Vnni {
  using Vector = __m512;
  using Sums = __m512i;
  using Codes = __m512i;
  static constexpr std::size_t kLanes = 16;
  // Two groups to a step of x: a tile holds their products beside their sums.
  template <std::size_t Parts>
  static constexpr std::size_t kMostRows = Parts == 1 ? 4 : 6;
  template <std::size_t Parts>
  static constexpr std::size_t columns(std::size_t rows) {
    return Parts == 1 || rows <= 3 ? 4 : 2;
  }
  // GCC 12 warns of its own unmasked conversions (GCC bug 105593).
  static constexpr __mmask16 kAll = 0xFFFF;

  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* into, Vector value) { _mm512_storeu_ps(into, value); }
  static Vector spread(float value) { return _mm512_set1_ps(value); }
  static Vector times(Vector a, Vector b) { return a * b; }
  static Vector fused(Vector sum, Vector a, Vector b) { return _mm512_fmadd_ps(a, b, sum); }
  static Vector f16(const std::byte* from) {
    return _mm512_maskz_cvtph_ps(kAll, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  template <bool Unsigned>
  static Vector bytes(const std::byte* from) {
    const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    if constexpr (Unsigned) return as_float(_mm512_maskz_cvtepu8_epi32(kAll, all));
    return as_float(_mm512_maskz_cvtepi8_epi32(kAll, all));
  }
  static Sums start(std::int32_t value) { return _mm512_set1_epi32(value); }
  static Vector as_float(Sums sums) { return _mm512_maskz_cvtepi32_ps(kAll, sums); }

  template <unsigned Bits>
  static Codes codes(const std::byte* from, std::size_t column) {
    if constexpr (Bits == 8) return _mm512_loadu_si512(from + 64 * column);
    const auto both = reinterpret_cast<__v32hu>(_mm512_loadu_si512(from + column / 2 * 64));
    const auto low = static_cast<unsigned short>(0x0F0F);
    const auto half = reinterpret_cast<__m512i>((column % 2 == 0 ? both : both >> 4) & low);
    if constexpr (Bits == 4) return half;
    if constexpr (Bits == 5) {
      std::uint64_t fifth;
      std::memcpy(&fifth, from + 128 + 8 * column, sizeof fifth);
      return _mm512_mask_add_epi8(half, fifth, half, _mm512_set1_epi8(16));
    }
    // Two bits of each column a byte, brought above the low four.
    const auto tops = reinterpret_cast<__v32hu>(_mm512_loadu_si512(from + 128));
    const auto top = static_cast<unsigned short>(0x3030);
    const auto placed = column < 2 ? tops << (4 - 2 * column) : tops >> (2 * column - 4);
    return reinterpret_cast<__m512i>(reinterpret_cast<__v32hu>(half) | (placed & top));
  }
  static Sums dot(Sums sums, Codes codes, Quad x) {
    const __m512i four = _mm512_set1_epi32(static_cast<int>(x));
    // Said outright: left to itself GCC 12 copies sums and spills them.
    asm("vpdpbusd %[x], %[w], %[sum]" : [sum] "+v"(sums) : [w] "v"(codes), [x] "v"(four));
    return sums;
  }
};

}  // namespace

const GroupedPath kAvx512VnniRounded{
    .name = "avx512vnni",
    .isa = "AVX-512 VNNI",
    .tile = "4x64 or 6x32 int32 by vpdpbusd",
    .scratch_bytes = &RoundedScratch::bytes,
    .run = &run_rounded<Vnni>,
};

}  // namespace tare::kernels
