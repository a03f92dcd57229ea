#include "prove/quantise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "formats/half.h"

namespace tare::prove {
namespace {

using formats::from_bf16;
using formats::from_f16;
using formats::to_bf16_bits;
using formats::to_f16_bits;

using Byte = std::uint8_t;
using Group = std::span<const float>;

void put(std::uint16_t word, Byte* into) {
  std::memcpy(into, &word, sizeof word);
}

float inverse(float value) {
  return value == 0 ? 0 : 1 / value;
}

// The integer next to the value, within [least, most]: halves to even.
int code_of(float value, int least, int most) {
  constexpr float kShift = 0x1.8p23F;  // the sum's last bit is a whole one
  const float limited =
      std::min(std::max(value, static_cast<float>(least)), static_cast<float>(most));
  return static_cast<int>((limited + kShift) - kShift);
}

float largest_magnitude(Group group) {
  float most = 0;
  for (const float w : group) most = std::max(most, std::fabs(w));
  return most;
}

// The weight of largest magnitude, with its sign: ggml makes it the code that has no counterpart.
float extreme(Group group) {
  const auto [least, most] = std::ranges::minmax(group);
  return -least > most ? least : most;
}

void put_nibble(Byte* codes, std::uint64_t i, int code) {
  const Byte both =
      i % 2 == 0 ? static_cast<Byte>(code) : static_cast<Byte>(codes[i / 2] | code << 4);
  codes[i / 2] = both;
}

// int8 as LLM.int8 and compressed-tensors do it: the largest magnitude becomes 127.
void quantise_int8(Group group, Byte* codes, Byte* scale) {
  const std::uint16_t bits = to_bf16_bits(largest_magnitude(group) / 127);
  const float factor = inverse(from_bf16(bits));
  for (std::uint64_t i = 0; i < group.size(); ++i)
    codes[i] = static_cast<Byte>(code_of(group[i] * factor, -128, 127));
  put(bits, scale);
}

// compressed-tensors, symmetric: 16 codes span twice the largest magnitude.
void quantise_int4(Group group, Byte* codes, Byte* scale) {
  const std::uint16_t bits = to_bf16_bits(largest_magnitude(group) / 7.5F);
  const float factor = inverse(from_bf16(bits));
  for (std::uint64_t i = 0; i < group.size(); ++i)
    put_nibble(codes, i, code_of(group[i] * factor, -8, 7) + 8);
  put(bits, scale);
}

// MLX's affine_quantize: the end of larger magnitude is hit exactly, which makes half of the scales
// negative.
void quantise_mlx(Group group, int bins, Byte* codes, Byte* scale_bits, Byte* bias_bits) {
  constexpr float kLeastScale = 1e-7F;
  const auto [least, most] = std::ranges::minmax(group);
  const bool low_end = std::fabs(least) > std::fabs(most);
  float scale = std::max((most - least) / static_cast<float>(bins), kLeastScale);
  scale = low_end ? scale : -scale;
  const float edge = low_end ? least : most;
  const auto zero = static_cast<float>(code_of(edge / scale, -bins, bins));
  const std::uint16_t scale_word = to_bf16_bits(zero != 0 ? edge / zero : scale);
  const std::uint16_t bias_word = to_bf16_bits(zero != 0 ? edge : 0);
  const float factor = inverse(from_bf16(scale_word));
  const float bias = from_bf16(bias_word);
  for (std::uint64_t i = 0; i < group.size(); ++i) {
    const int code = code_of((group[i] - bias) * factor, 0, bins);
    if (bins == 15)
      put_nibble(codes, i, code);
    else
      codes[i] = static_cast<Byte>(code);
  }
  put(scale_word, scale_bits);
  put(bias_word, bias_bits);
}

void quantise_q8_0(Group group, Byte* block) {
  const float d = largest_magnitude(group) / 127;
  const float factor = inverse(d);
  put(to_f16_bits(d), block);
  for (int i = 0; i < 32; ++i)
    block[2 + i] = static_cast<Byte>(code_of(group[i] * factor, -127, 127));
}

void quantise_q4_0(Group group, Byte* block) {
  const float d = extreme(group) / -8;
  const float factor = inverse(d);
  const auto code = [&](int i) { return code_of(group[i] * factor, -8, 7) + 8; };
  put(to_f16_bits(d), block);
  for (int i = 0; i < 16; ++i) block[2 + i] = static_cast<Byte>(code(i) | code(16 + i) << 4);
}

void quantise_q5_0(Group group, Byte* block) {
  const float d = extreme(group) / -16;
  const float factor = inverse(d);
  const auto code = [&](int i) { return code_of(group[i] * factor, -16, 15) + 16; };
  put(to_f16_bits(d), block);
  std::uint32_t fifth = 0;
  for (int i = 0; i < 32; ++i) fifth |= static_cast<std::uint32_t>(code(i) >> 4) << i;
  std::memcpy(block + 2, &fifth, sizeof fifth);
  for (int i = 0; i < 16; ++i)
    block[6 + i] = static_cast<Byte>((code(i) & 15) | (code(16 + i) & 15) << 4);
}

// Two steps, as ggml's: the sub-blocks' own scales and least values, then 6 bits for each of them.
// (ggml searches around these for the least squared error, which moves few codes.)
void quantise_q4_k(Group group, Byte* block) {
  std::array<float, 8> scale{}, depth{};
  for (std::size_t j = 0; j < 8; ++j) {
    const auto [least, most] = std::ranges::minmax(group.subspan(32 * j, 32));
    depth[j] = -std::min(least, 0.0F);
    scale[j] = (std::max(most, 0.0F) + depth[j]) / 15;
  }
  const std::uint16_t d = to_f16_bits(*std::ranges::max_element(scale) / 63);
  const std::uint16_t dmin = to_f16_bits(*std::ranges::max_element(depth) / 63);
  put(d, block);
  put(dmin, block + 2);
  std::memset(block + 4, 0, 140);
  Byte* pairs = block + 4;
  for (std::size_t j = 0; j < 8; ++j) {
    const int sc = code_of(scale[j] * inverse(from_f16(d)), 0, 63);
    const int m = code_of(depth[j] * inverse(from_f16(dmin)), 0, 63);
    if (j < 4) {
      pairs[j] |= static_cast<Byte>(sc);
      pairs[j + 4] |= static_cast<Byte>(m);
    } else {
      pairs[j + 4] |= static_cast<Byte>((sc & 15) | (m & 15) << 4);
      pairs[j - 4] |= static_cast<Byte>(sc >> 4 << 6);
      pairs[j] |= static_cast<Byte>(m >> 4 << 6);
    }
    const float factor = inverse(from_f16(d) * static_cast<float>(sc));
    const float shift = from_f16(dmin) * static_cast<float>(m);
    for (std::size_t l = 0; l < 32; ++l) {
      const int code = code_of((group[32 * j + l] + shift) * factor, 0, 15);
      block[16 + 32 * (j / 2) + l] |= static_cast<Byte>(code << (j % 2 * 4));
    }
  }
}

void quantise_q6_k(Group group, Byte* block) {
  std::array<float, 16> scale{};
  for (std::size_t i = 0; i < 16; ++i) scale[i] = extreme(group.subspan(16 * i, 16)) / -32;
  const float widest = extreme(scale);
  const std::uint16_t d = to_f16_bits(widest / -128);
  std::memset(block, 0, 192);
  put(d, block + 208);
  for (std::size_t i = 0; i < 256; ++i) {
    const int sc = code_of(scale[i / 16] * inverse(from_f16(d)), -128, 127);
    block[192 + i / 16] = static_cast<Byte>(sc);
    const float factor = inverse(from_f16(d) * static_cast<float>(sc));
    const int code = code_of(group[i] * factor, -32, 31) + 32;
    const std::size_t half = i / 128, j = i / 32 % 4, l = i % 32;
    block[64 * half + 32 * (j % 2) + l] |= static_cast<Byte>((code & 15) << (j / 2 * 4));
    block[128 + 32 * half + l] |= static_cast<Byte>(code >> 4 << (2 * j));
  }
}

void quantise_plain(const formats::WeightFormat& format, Group weights, Byte* into) {
  for (std::uint64_t i = 0; i < weights.size(); ++i) {
    if (format.type == TARE_F32) {
      std::memcpy(into + 4 * i, &weights[i], 4);
    } else {
      put(format.type == TARE_F16 ? to_f16_bits(weights[i]) : to_bf16_bits(weights[i]),
          into + 2 * i);
    }
  }
}

void quantise_block(const formats::WeightFormat& format, Group block, const RowParts& into) {
  switch (format.type) {
    case TARE_INT8_CHANNEL:
    case TARE_INT8_G128:
      return quantise_int8(block, into.codes, into.scales);
    case TARE_INT4_G128:
      return quantise_int4(block, into.codes, into.scales);
    case TARE_MLX_INT8_G64:
      return quantise_mlx(block, 255, into.codes, into.scales, into.biases);
    case TARE_MLX_INT4_G64:
      return quantise_mlx(block, 15, into.codes, into.scales, into.biases);
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

}  // namespace

void quantise_row(const formats::WeightFormat& format, Group weights, const RowParts& into) {
  if (format.family == formats::Family::kPlain) return quantise_plain(format, weights, into.codes);
  const std::uint64_t size = format.group == 0 ? weights.size() : format.block;
  const std::uint64_t code_bytes = size / format.block * format.block_bytes;
  RowParts next = into;
  for (std::uint64_t first = 0; first < weights.size(); first += size) {
    quantise_block(format, weights.subspan(first, size), next);
    next.codes += code_bytes;
    next.scales += 2;
    next.biases += 2;
  }
}

}  // namespace tare::prove
