#include "formats/decode.h"

#include <cstring>

#include "base/error.h"
#include "formats/half.h"

namespace tare::formats {
namespace {

using Byte = std::uint8_t;

std::uint16_t word_at(const Byte* bytes) {
  return static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8);
}

std::int16_t whole(Byte byte, bool is_signed) {
  return static_cast<std::int16_t>(is_signed && byte > 127 ? byte - 256 : byte);
}
std::int16_t low(Byte byte) {
  return static_cast<std::int16_t>(byte & 15);
}
std::int16_t high(Byte byte) {
  return static_cast<std::int16_t>(byte >> 4);
}

void decode_planes(const WeightFormat& format, const Layout& layout, const Byte* weights,
                   std::uint64_t row, QuantisedRow& into) {
  const Byte* codes = weights + row * layout.code_row;
  const bool nibbles = format.block_bytes * 2 == format.block;
  const bool is_signed = !format.has_bias;
  for (std::uint64_t i = 0; i < into.code.size(); ++i) {
    if (nibbles) {
      const std::int16_t code = i % 2 == 0 ? low(codes[i / 2]) : high(codes[i / 2]);
      into.code[i] = static_cast<std::int16_t>(code - (is_signed ? 8 : 0));
    } else {
      into.code[i] = whole(codes[i], is_signed);
    }
  }
  const auto number = [&](const Byte* at) {
    const std::uint16_t bits = word_at(at);
    return format.scales == TARE_F16 ? from_f16(bits) : from_bf16(bits);
  };
  for (std::uint64_t g = 0; g < layout.groups; ++g) {
    const std::uint64_t at = row * layout.groups + g;
    into.scale[g] = number(weights + layout.scales + 2 * at);
    if (!format.has_bias) continue;
    const Byte* bias = weights + layout.biases + format.bias_bytes() * at;
    if (format.has_zeros) into.zero[g] = *bias;
    into.bias[g] =
        format.has_zeros ? -into.scale[g] * static_cast<float>(into.zero[g]) : number(bias);
  }
}

void decode_q8_0(const Byte* block, std::int16_t* code, float* scale) {
  *scale = from_f16(word_at(block));
  for (int i = 0; i < 32; ++i) code[i] = whole(block[2 + i], true);
}

void decode_q4_0(const Byte* block, std::int16_t* code, float* scale) {
  *scale = from_f16(word_at(block));
  for (int i = 0; i < 16; ++i) {
    code[i] = static_cast<std::int16_t>(low(block[2 + i]) - 8);
    code[16 + i] = static_cast<std::int16_t>(high(block[2 + i]) - 8);
  }
}

void decode_q5_0(const Byte* block, std::int16_t* code, float* scale) {
  *scale = from_f16(word_at(block));
  for (int i = 0; i < 32; ++i) {
    const Byte byte = block[6 + i % 16];
    const int fifth = block[2 + i / 8] >> (i % 8) & 1;
    code[i] = static_cast<std::int16_t>((i < 16 ? low(byte) : high(byte)) + 16 * fifth - 16);
  }
}

void decode_q4_k(const Byte* block, std::int16_t* code, float* scale, float* bias) {
  const float d = from_f16(word_at(block));
  const float least = from_f16(word_at(block + 2));
  const SubBlocks sub = sub_blocks_of_q4_k(block + 4);
  for (int j = 0; j < 8; ++j) {
    scale[j] = d * static_cast<float>(sub.scale[j]);
    bias[j] = -(least * static_cast<float>(sub.least[j]));
    for (int l = 0; l < 32; ++l) {
      const Byte byte = block[16 + 32 * (j / 2) + l];
      code[32 * j + l] = j % 2 == 0 ? low(byte) : high(byte);
    }
  }
}

void decode_q6_k(const Byte* block, std::int16_t* code, float* scale) {
  const float d = from_f16(word_at(block + 208));
  for (std::ptrdiff_t half = 0; half < 2; ++half) {
    const Byte* lows = block + 64 * half;
    const Byte* highs = block + 128 + 32 * half;
    for (int j = 0; j < 4; ++j) {
      for (int l = 0; l < 32; ++l) {
        const Byte byte = lows[32 * (j % 2) + l];
        const int top = highs[l] >> (2 * j) & 3;
        code[128 * half + 32 * j + l] =
            static_cast<std::int16_t>((j < 2 ? low(byte) : high(byte)) + 16 * top - 32);
      }
    }
  }
  for (int i = 0; i < 16; ++i) scale[i] = d * static_cast<float>(whole(block[192 + i], true));
}

void decode_block(const WeightFormat& format, const Byte* block, std::int16_t* code, float* scale,
                  float* bias) {
  switch (format.type) {
    case TARE_GGUF_Q8_0:
      return decode_q8_0(block, code, scale);
    case TARE_GGUF_Q4_0:
      return decode_q4_0(block, code, scale);
    case TARE_GGUF_Q5_0:
      return decode_q5_0(block, code, scale);
    case TARE_GGUF_Q4_K:
      return decode_q4_k(block, code, scale, bias);
    case TARE_GGUF_Q6_K:
      return decode_q6_k(block, code, scale);
    default:
      fail(Blame::kInput, "{} weights have no codes", format.name);
  }
}

void dequantise_plain(const WeightFormat& format, const Byte* weights, std::vector<double>& into) {
  for (std::uint64_t i = 0; i < into.size(); ++i) {
    if (format.type == TARE_F32) {
      float value;
      std::memcpy(&value, weights + 4 * i, sizeof value);
      into[i] = value;
    } else {
      const std::uint16_t bits = word_at(weights + 2 * i);
      into[i] = format.type == TARE_F16 ? from_f16(bits) : from_bf16(bits);
    }
  }
}

}  // namespace

SubBlocks sub_blocks_of_q4_k(const std::uint8_t* pairs) {
  SubBlocks sub{};
  for (int j = 0; j < 4; ++j) {
    sub.scale[j] = pairs[j] & 63;
    sub.least[j] = pairs[j + 4] & 63;
    sub.scale[j + 4] = static_cast<Byte>((pairs[j + 8] & 15) | pairs[j] >> 6 << 4);
    sub.least[j + 4] = static_cast<Byte>(pairs[j + 8] >> 4 | pairs[j + 4] >> 6 << 4);
  }
  return sub;
}

void decode_row(const WeightFormat& format, std::uint64_t k, std::uint64_t n, const void* weights,
                std::uint64_t row, QuantisedRow& into) {
  const Layout layout = layout_of(format, k, n);
  into.group = format.group == 0 ? k : format.group;
  into.code.resize(k);
  into.scale.resize(layout.groups);
  into.bias.resize(format.has_bias ? layout.groups : 0);
  into.zero.resize(format.has_zeros ? layout.groups : 0);
  const auto* bytes = static_cast<const Byte*>(weights);
  if (format.family == Family::kPlanes) return decode_planes(format, layout, bytes, row, into);
  const std::uint64_t groups = format.block / format.group;  // of a block
  for (std::uint64_t i = 0; i < k / format.block; ++i) {
    decode_block(format, bytes + row * layout.code_row + i * format.block_bytes,
                 into.code.data() + i * format.block, into.scale.data() + i * groups,
                 format.has_bias ? into.bias.data() + i * groups : nullptr);
  }
}

void dequantise_row(const WeightFormat& format, std::uint64_t k, std::uint64_t n,
                    const void* weights, std::uint64_t row, std::vector<double>& into) {
  into.resize(k);
  if (format.family == Family::kPlain) {
    const auto* bytes = static_cast<const Byte*>(weights);
    return dequantise_plain(format, bytes + row * k * format.block_bytes, into);
  }
  QuantisedRow quantised;
  decode_row(format, k, n, weights, row, quantised);
  for (std::uint64_t i = 0; i < k; ++i) {
    const std::uint64_t g = i / quantised.group;
    const double bias = quantised.bias.empty() ? 0 : quantised.bias[g];
    into[i] = static_cast<double>(quantised.scale[g]) * quantised.code[i] + bias;
  }
}

std::vector<float> bias_of(const WeightFormat& format, std::uint64_t k, std::uint64_t n,
                           std::uint32_t bias, const void* weights) {
  if (bias == 0) return {};
  const std::uint64_t plane = layout_of(format, k, n, bias).output_bias;
  std::vector<double> exact;
  dequantise_row(format_of(bias), n, 1, static_cast<const Byte*>(weights) + plane, 0, exact);
  return {exact.begin(), exact.end()};
}

std::vector<float> bias_of(const tare_problem& problem, const void* weights) {
  return bias_of(format_of(problem.weights), problem.k, problem.n, problem.bias, weights);
}

}  // namespace tare::formats
