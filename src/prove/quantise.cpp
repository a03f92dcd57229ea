#include "prove/quantise.h"

#include <array>
#include <cmath>

#include "base/error.h"
#include "formats/half.h"
#include "prove/quantise_group.h"
#include "prove/vector_paths.h"

namespace tare::prove {
namespace {

using formats::from_bf16;
using formats::from_f16;
using formats::to_bf16_bits;
using formats::to_f16_bits;

constexpr std::uint64_t kMostNibbles = 128;  // of a group

// Two codes a byte, the first in the low half.
TARE_INLINE void put_nibbles(Group group, const Rounding& rounding, Byte* into) {
  Byte codes[kMostNibbles];
  put_codes(group.data(), group.size(), rounding, codes);
  for (std::uint64_t i = 0; i < group.size() / 2; ++i)
    into[i] = static_cast<Byte>(codes[2 * i] | codes[2 * i + 1] << 4);
}

// Of TARE_BF16 or TARE_F16.
TARE_INLINE std::uint16_t rounded_scale(std::uint32_t scales, float value) {
  return scales == TARE_F16 ? to_f16_bits(value) : to_bf16_bits(value);
}
TARE_INLINE float scale_of(std::uint32_t scales, std::uint16_t bits) {
  return scales == TARE_F16 ? from_f16(bits) : from_bf16(bits);
}

// int8 as LLM.int8 and compressed-tensors do it: the largest magnitude becomes 127.
TARE_INLINE void quantise_int8(std::uint32_t scales, Group group, Byte* codes, Byte* scale) {
  const std::uint16_t bits = rounded_scale(scales, largest_magnitude(group) / 127);
  put_codes(group.data(), group.size(), {0, inverse(scale_of(scales, bits)), -128, 127}, codes);
  put(bits, scale);
}

// compressed-tensors, symmetric: 16 codes span twice the largest magnitude.
TARE_INLINE void quantise_int4(std::uint32_t scales, Group group, Byte* codes, Byte* scale) {
  const std::uint16_t bits = rounded_scale(scales, largest_magnitude(group) / 7.5F);
  put_nibbles(group, {0, inverse(scale_of(scales, bits)), -8, 7, 8}, codes);
  put(bits, scale);
}

// MLX's affine_quantize: the end of larger magnitude is hit exactly, which makes half of the scales
// negative.
TARE_INLINE void quantise_mlx(std::uint32_t scales, Group group, int bins, const RowParts& into) {
  constexpr float kLeastScale = 1e-7F;
  const auto [least, most] = range_of(group);
  const bool low_end = std::fabs(least) > std::fabs(most);
  float scale = std::max((most - least) / static_cast<float>(bins), kLeastScale);
  scale = low_end ? scale : -scale;
  const float edge = low_end ? least : most;
  const auto zero = static_cast<float>(code_of(edge / scale, -bins, bins));
  const std::uint16_t scale_word = rounded_scale(scales, zero != 0 ? edge / zero : scale);
  const std::uint16_t bias_word = rounded_scale(scales, zero != 0 ? edge : 0);
  const Rounding rounding{-scale_of(scales, bias_word), inverse(scale_of(scales, scale_word)), 0,
                          bins};
  if (bins == 15)
    put_nibbles(group, rounding, into.codes);
  else
    put_codes(group.data(), group.size(), rounding, into.codes);
  put(scale_word, into.scales);
  put(bias_word, into.biases);
}

// compressed-tensors, asymmetric: 16 codes span the weights and zero.
TARE_INLINE void quantise_int4_zeros(std::uint32_t scales, Group group, const RowParts& into) {
  const auto [least, most] = range_of(group);
  const float low = std::min(least, 0.0F), high = std::max(most, 0.0F);
  const std::uint16_t bits = rounded_scale(scales, (high - low) / 15);
  const float factor = inverse(scale_of(scales, bits));
  const int zero = code_of(-low * factor, 0, 15);
  put_nibbles(group, {0, factor, -zero, 15 - zero, zero}, into.codes);
  put(bits, into.scales);
  *into.biases = static_cast<Byte>(zero);
}

TARE_INLINE void quantise_q8_0(Group group, Byte* block) {
  const float d = largest_magnitude(group) / 127;
  put(to_f16_bits(d), block);
  put_codes(group.data(), 32, {0, inverse(d), -127, 127}, block + 2);
}

// The low four bits of 32 codes in 16 bytes: the first sixteen in the low halves.
TARE_INLINE void put_halves(const Byte* codes, Byte* into) {
  for (int i = 0; i < 16; ++i)
    into[i] = static_cast<Byte>((codes[i] & 15) | (codes[16 + i] & 15) << 4);
}

TARE_INLINE void quantise_q4_0(Group group, Byte* block) {
  const float d = extreme(group) / -8;
  put(to_f16_bits(d), block);
  Byte codes[32];
  put_codes(group.data(), 32, {0, inverse(d), -8, 7, 8}, codes);
  put_halves(codes, block + 2);
}

TARE_INLINE void quantise_q5_0(Group group, Byte* block) {
  const float d = extreme(group) / -16;
  put(to_f16_bits(d), block);
  Byte codes[32];
  put_codes(group.data(), 32, {0, inverse(d), -16, 15, 16}, codes);
  std::uint32_t fifth = 0;
  for (int i = 0; i < 32; ++i) fifth |= static_cast<std::uint32_t>(codes[i] >> 4) << i;
  std::memcpy(block + 2, &fifth, sizeof fifth);
  put_halves(codes, block + 6);
}

TARE_INLINE void put_six_bits(Byte* pairs, std::size_t j, int sc, int m) {
  if (j < 4) {
    pairs[j] |= static_cast<Byte>(sc);
    pairs[j + 4] |= static_cast<Byte>(m);
  } else {
    pairs[j + 4] |= static_cast<Byte>((sc & 15) | (m & 15) << 4);
    pairs[j - 4] |= static_cast<Byte>(sc >> 4 << 6);
    pairs[j] |= static_cast<Byte>(m >> 4 << 6);
  }
}

// Two steps, as ggml's: the sub-blocks' own scales and least values, then 6 bits for each of them.
// (ggml searches around these for the least squared error, which moves few codes.)
TARE_INLINE void quantise_q4_k(Group group, Byte* block) {
  std::array<float, 8> scale{}, depth{};
  for (std::size_t j = 0; j < 8; ++j) {
    const Range range = range_of(group.subspan(32 * j, 32));
    depth[j] = -std::min(range.least, 0.0F);
    scale[j] = (std::max(range.most, 0.0F) + depth[j]) / 15;
  }
  const std::uint16_t d = to_f16_bits(largest_magnitude(scale) / 63);
  const std::uint16_t dmin = to_f16_bits(largest_magnitude(depth) / 63);
  const float wide_d = from_f16(d), wide_dmin = from_f16(dmin);
  const float per_d = inverse(wide_d), per_dmin = inverse(wide_dmin);
  put(d, block);
  put(dmin, block + 2);
  std::memset(block + 4, 0, 12);
  Byte codes[256];
  for (std::size_t j = 0; j < 8; ++j) {
    const int sc = code_of(scale[j] * per_d, 0, 63), m = code_of(depth[j] * per_dmin, 0, 63);
    put_six_bits(block + 4, j, sc, m);
    const float factor = inverse(wide_d * static_cast<float>(sc));
    put_codes(&group[32 * j], 32, {wide_dmin * static_cast<float>(m), factor, 0, 15},
              codes + 32 * j);
  }
  for (std::size_t two = 0; two < 4; ++two)
    for (std::size_t l = 0; l < 32; ++l)
      block[16 + 32 * two + l] =
          static_cast<Byte>(codes[64 * two + l] | codes[64 * two + 32 + l] << 4);
}

TARE_INLINE void quantise_q6_k(Group group, Byte* block) {
  std::array<float, 16> scale{};
  for (std::size_t i = 0; i < 16; ++i) scale[i] = extreme(group.subspan(16 * i, 16)) / -32;
  const std::uint16_t d = to_f16_bits(extreme(scale) / -128);
  const float wide_d = from_f16(d), per_d = inverse(wide_d);
  put(d, block + 208);
  std::array<float, 16> factor{};
  for (std::size_t i = 0; i < 16; ++i) {
    const int sc = code_of(scale[i] * per_d, -128, 127);
    block[192 + i] = static_cast<Byte>(sc);
    factor[i] = inverse(wide_d * static_cast<float>(sc));
  }
  Byte codes[256];
  for (std::size_t i = 0; i < 16; ++i)
    put_codes(&group[16 * i], 16, {0, factor[i], -32, 31, 32}, codes + 16 * i);
  for (std::size_t half = 0; half < 2; ++half) {
    const Byte* code = codes + 128 * half;
    for (std::size_t l = 0; l < 64; ++l)
      block[64 * half + l] = static_cast<Byte>((code[l] & 15) | (code[64 + l] & 15) << 4);
    for (std::size_t l = 0; l < 32; ++l)
      block[128 + 32 * half + l] = static_cast<Byte>(
          code[l] >> 4 | code[32 + l] >> 4 << 2 | code[64 + l] >> 4 << 4 | code[96 + l] >> 4 << 6);
  }
}

TARE_INLINE void quantise_plain(const formats::WeightFormat& format, Group weights, Byte* into) {
  for (std::uint64_t i = 0; i < weights.size(); ++i) {
    if (format.type == TARE_F32) {
      std::memcpy(into + 4 * i, &weights[i], 4);
    } else {
      put(format.type == TARE_F16 ? to_f16_bits(weights[i]) : to_bf16_bits(weights[i]),
          into + 2 * i);
    }
  }
}

TARE_INLINE void quantise_block(const formats::WeightFormat& format, Group block,
                                const RowParts& into) {
  switch (format.type) {
    case TARE_INT8_CHANNEL:
    case TARE_INT8_CHANNEL_F16:
    case TARE_INT8_G128:
    case TARE_INT8_G128_F16:
      return quantise_int8(format.scales, block, into.codes, into.scales);
    case TARE_INT4_G128:
    case TARE_INT4_G128_F16:
      return quantise_int4(format.scales, block, into.codes, into.scales);
    case TARE_INT4_G128_ZEROS:
    case TARE_INT4_G128_ZEROS_F16:
      return quantise_int4_zeros(format.scales, block, into);
    case TARE_MLX_INT8_G64:
    case TARE_MLX_INT8_G64_F16:
      return quantise_mlx(format.scales, block, 255, into);
    case TARE_MLX_INT4_G64:
    case TARE_MLX_INT4_G64_F16:
      return quantise_mlx(format.scales, block, 15, into);
    case TARE_GGUF_Q8_0:
      return quantise_q8_0(block, into.codes);
    case TARE_GGUF_Q4_0:
      return quantise_q4_0(block, into.codes);
    case TARE_GGUF_Q5_0:
      return quantise_q5_0(block, into.codes);
    case TARE_GGUF_Q4_K:
      return quantise_q4_k(block, into.codes);
    case TARE_GGUF_Q6_K:
      return quantise_q6_k(block, into.codes);
    default:
      fail(Blame::kInput, "no rule to quantise to {}", format.name);
  }
}

TARE_INLINE void quantise(const formats::WeightFormat& format, Group weights,
                          const RowParts& into) {
  if (format.family == formats::Family::kPlain) return quantise_plain(format, weights, into.codes);
  const std::uint64_t size = format.group == 0 ? weights.size() : format.block;
  const std::uint64_t code_bytes = size / format.block * format.block_bytes;
  RowParts next = into;
  for (std::uint64_t first = 0; first < weights.size(); first += size) {
    quantise_block(format, weights.subspan(first, size), next);
    next.codes += code_bytes;
    next.scales += 2;
    next.biases += format.bias_bytes();
  }
}

void quantise_portable(const formats::WeightFormat& format, Group weights, const RowParts& into) {
  quantise(format, weights, into);
}
#ifdef TARE_PROVE_X86
[[TARE_PROVE_AVX2]] void quantise_avx2(const formats::WeightFormat& format, Group weights,
                                       const RowParts& into) {
  quantise(format, weights, into);
}
[[TARE_PROVE_AVX512]] void quantise_avx512(const formats::WeightFormat& format, Group weights,
                                           const RowParts& into) {
  quantise(format, weights, into);
}
#endif

}  // namespace

std::vector<QuantiserPath> quantiser_paths() {
  std::vector<QuantiserPath> paths = {{"portable", quantise_portable}};
#ifdef TARE_PROVE_X86
  if (has_avx2()) paths.push_back({"AVX2", quantise_avx2});
  if (has_avx512()) paths.push_back({"AVX-512", quantise_avx512});
#endif
  return paths;
}

void quantise_row(const formats::WeightFormat& format, Group weights, const RowParts& into) {
  static const auto kFastest = quantiser_paths().back().quantise;
  kFastest(format, weights, into);
}

}  // namespace tare::prove
