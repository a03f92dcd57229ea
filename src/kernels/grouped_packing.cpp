#include "kernels/grouped_packing.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "formats/decode.h"
#include "formats/half.h"
#include "kernels/cpu/code_words.h"

namespace tare::kernels {
namespace {

constexpr std::uint64_t kWidestGroup = 128;  // a block of the tiles
constexpr std::uint64_t kSuperBlock = 256;   // of the K formats: weights that share a f16

using formats::QuantisedRow;

// Bits of a code, as they are packed; 0 for a format that is not known.
std::uint32_t code_bits(std::uint32_t type) {
  switch (type) {
    case TARE_INT8_CHANNEL:
    case TARE_INT8_CHANNEL_F16:
    case TARE_INT8_G128:
    case TARE_INT8_G128_F16:
    case TARE_MLX_INT8_G64:
    case TARE_MLX_INT8_G64_F16:
    case TARE_GGUF_Q8_0:
      return 8;
    case TARE_GGUF_Q6_K:
      return 6;
    case TARE_GGUF_Q5_0:
      return 5;
    case TARE_INT4_G128:
    case TARE_INT4_G128_F16:
    case TARE_INT4_G128_ZEROS:
    case TARE_INT4_G128_ZEROS_F16:
    case TARE_MLX_INT4_G64:
    case TARE_MLX_INT4_G64_F16:
    case TARE_GGUF_Q4_0:
    case TARE_GGUF_Q4_K:
      return 4;
    default:
      return 0;
  }
}

// Rounded activations: only with blocks of GGUF, whose groups are those of x, or halves of them.
std::uint32_t bits_of(std::uint32_t type, std::uint32_t activations) {
  const formats::WeightFormat* format = formats::find_format(type);
  const bool rounds = activations == TARE_BF16_AS_INT8 && format != nullptr &&
                      format->family == formats::Family::kBlocks;
  return rounds || activations == TARE_BF16 ? code_bits(type) : 0;
}

ScaleType scale_type(const formats::WeightFormat& format) {
  if (format.block == kSuperBlock) return ScaleType::kTwoLevel;
  const bool half = format.family == formats::Family::kBlocks || format.scales == TARE_F16;
  return half ? ScaleType::kF16 : ScaleType::kBf16;
}

std::uint16_t scale_word(ScaleType type, float scale) {
  return type == ScaleType::kBf16 ? formats::to_bf16_bits(scale) : formats::to_f16_bits(scale);
}

void put_word(std::byte* into, std::uint64_t index, std::uint16_t word) {
  std::memcpy(into + 2 * index, &word, sizeof word);
}

// One code of a group with bf16 activations: element `e` of pair `pair` of output `j` of a panel.
// Where it lies: kernels/cpu/code_words.h.
struct CodePlace {
  std::uint64_t pair, j, e;
};
template <unsigned Bits>
void put_code(std::byte* codes, const CodePlace& at, int code) {
  std::byte* unit = codes + at.pair / kUnitPairs<Bits> * kUnitBytes<Bits>;
  if constexpr (Bits == 8) {
    const int signed_magnitude = code < 0 ? 0x80 | (-code & 0x7F) : code;
    unit[place_of_byte(at.j, at.e)] = static_cast<std::byte>(signed_magnitude);
    return;
  }
  const std::uint64_t pair = at.pair % kUnitPairs<Bits>, column = at.j / 16;
  const auto put = [&](std::uint64_t line, std::uint64_t shift, int bits) {
    std::byte* into = unit + line + 2 * (at.j % 16 * 2 + at.e);
    std::uint16_t word;
    std::memcpy(&word, into, sizeof word);
    word = static_cast<std::uint16_t>(word | bits << shift);
    std::memcpy(into, &word, sizeof word);
  };
  const std::uint64_t own = pair * kLineBytes, shared = kUnitBytes<Bits> - kLineBytes;
  const int low = code & 15, all = code & ((1 << Bits) - 1);
  if constexpr (Bits == 4) {
    put(own, 4 * column, low);
  } else if constexpr (Bits == 5) {
    if (column < 3) return put(own, 5 * column, all);
    put(own, 15, all >> 4);
    put(shared, 4 * pair, low);
  } else {
    if (column < 2) return put(own, 6 * column, all);
    if (column == 2) return put(shared, 6 * pair, all);
    put(own, 12, low);
    put(shared, 12 + 2 * pair, all >> 4);
  }
}
void put_code(std::uint32_t bits, std::byte* codes, const CodePlace& at, int code) {
  switch (bits) {
    case 8:
      return put_code<8>(codes, at, code);
    case 6:
      return put_code<6>(codes, at, code);
    case 5:
      return put_code<5>(codes, at, code);
    default:
      return put_code<4>(codes, at, code);
  }
}

// The same where four of k lie together: element `e` of the quad that starts at `quad`.
void put_rounded_code(std::uint32_t bits, std::byte* quad, std::uint64_t j, std::uint64_t e,
                      int code) {
  if (bits == 8) {
    quad[4 * j + e] = static_cast<std::byte>(code);
    return;
  }
  const std::uint64_t column = j / 16, own = j % 16 * 4 + e;  // of sixteen outputs' 64 codes
  quad[column / 2 * 64 + own] |= static_cast<std::byte>((code & 15) << (column % 2 * 4));
  const int top = code >> 4;
  if (bits == 5) quad[128 + 8 * column + own / 8] |= static_cast<std::byte>(top << (own % 8));
  if (bits == 6) quad[128 + own] |= static_cast<std::byte>(top << (2 * column));
}

// Where group `g` of a panel begins.
std::byte* group_at(const GroupedShape& shape, std::byte* panel, std::uint64_t g) {
  const std::uint64_t headers =
      (g * shape.group_pairs * 2 / kSuperBlock + 1) * shape.header_bytes();
  return panel + headers + g * shape.group_bytes();
}

void put_codes(const GroupedShape& shape, const QuantisedRow& row, std::uint64_t j, std::uint64_t g,
               std::byte* codes) {
  const int shift = shape.rounds_x ? -shape.zero_point : shape.biased ? 1 << (shape.bits - 1) : 0;
  const std::uint64_t first = g * shape.group_pairs * 2;
  const std::uint64_t last = std::min<std::uint64_t>(first + shape.group_pairs * 2, shape.k);
  for (std::uint64_t i = first; i < last; ++i) {
    const std::uint64_t at = i - first;
    const int code = row.code[i] - shift;
    if (shape.rounds_x)
      put_rounded_code(shape.bits, codes + at / 4 * 2 * shape.pair_bytes(), j, at % 4, code);
    else
      put_code(shape.bits, codes, {at / 2, j, at % 2}, code);
  }
}

// Writes output `j` of a panel, whose memory is zero.
void pack_output(const GroupedShape& shape, const QuantisedRow& row, std::uint64_t j,
                 std::byte* panel) {
  for (std::uint64_t g = 0; g < shape.groups(); ++g) {
    std::byte* group = group_at(shape, panel, g);
    const std::uint64_t own = g * shape.group_pairs * 2 / row.group;  // the format's group
    if (shape.scales != ScaleType::kTwoLevel) {
      put_word(group, j, scale_word(shape.scales, row.scale[own]));
      if (shape.biased) {
        const float bias = shape.zeros ? static_cast<float>(row.zero[own]) : row.bias[own];
        put_word(group + shape.plane_bytes(), j, scale_word(shape.scales, bias));
      }
    }
    put_codes(shape, row, j, g, group + shape.plane_bytes() * (shape.biased ? 2 : 1));
  }
}

// A K block's factors and the bytes of its groups, one plane after the other.
struct TwoLevels {
  const std::uint8_t* factors[2];  // f16: of scales, of biases
  const std::uint8_t* bytes[2];    // of the groups
};

// Scales (and biases) of an output as its K blocks have them.
void pack_two_levels(const GroupedShape& shape, const formats::WeightFormat& format,
                     const std::uint8_t* block, std::uint64_t j, std::byte* panel) {
  const std::uint64_t groups = kSuperBlock / (2 * shape.group_pairs);
  for (std::uint64_t i = 0; i < shape.headers(); ++i, block += format.block_bytes) {
    const formats::SubBlocks sub = formats::sub_blocks_of_q4_k(block + 4);
    const TwoLevels q4_k{{block, block + 2}, {sub.scale, sub.least}};
    const TwoLevels q6_k{{block + 208, nullptr}, {block + 192, nullptr}};
    const TwoLevels& levels = format.type == TARE_GGUF_Q4_K ? q4_k : q6_k;
    std::byte* header = group_at(shape, panel, i * groups) - shape.header_bytes();
    for (std::uint64_t plane = 0; plane < (shape.biased ? 2 : 1); ++plane) {
      std::memcpy(header + 2 * (plane * kGroupedOutputs + j), levels.factors[plane], 2);
      for (std::uint64_t g = 0; g < groups; ++g)
        group_at(shape, panel, i * groups + g)[plane * kGroupedOutputs + j] =
            std::byte{levels.bytes[plane][g]};
    }
  }
}

}  // namespace

bool is_grouped(std::uint32_t type, std::uint32_t activations) {
  return bits_of(type, activations) != 0;
}

GroupedShape grouped_shape(std::uint32_t type, std::uint32_t activations, std::uint64_t k,
                           std::uint64_t n, std::uint32_t bias) {
  const formats::WeightFormat& format = formats::format_of(type);
  if (!is_grouped(type, activations)) {
    fail(Blame::kInput, "Tare's grouped kernels do not know {} weights with {} activations",
         format.name, formats::type_name(activations));
  }
  formats::require_whole_blocks(format, k);
  const std::uint64_t group = format.group == 0 ? kWidestGroup : format.group;
  GroupedShape shape;
  shape.k = k;
  shape.n = n;
  shape.bias = bias;
  shape.bits = bits_of(type, activations);
  shape.group_pairs = static_cast<std::uint32_t>(group / 2);
  shape.scales = scale_type(format);
  shape.biased = format.has_bias;
  shape.zeros = format.has_zeros;
  shape.rounds_x = activations == TARE_BF16_AS_INT8;
  // Codes of formats without biases count from the middle of their range.
  shape.zero_point = shape.rounds_x && !format.has_bias ? 1 << (shape.bits - 1) : 0;
  return shape;
}

void pack_grouped(const GroupedShape& shape, std::uint32_t type, const void* weights,
                  std::uint64_t first, std::uint64_t last, std::byte* packed) {
  const formats::WeightFormat& format = formats::format_of(type);
  QuantisedRow row;
  for (std::uint64_t panel = first; panel < last; ++panel) {
    std::byte* into = packed + panel * shape.panel_bytes();
    std::memset(into, 0, shape.panel_bytes());
    const std::uint64_t output = panel * kGroupedOutputs;
    for (std::uint64_t j = 0; j < std::min(kGroupedOutputs, shape.n - output); ++j) {
      formats::decode_row(format, shape.k, shape.n, weights, output + j, row);
      pack_output(shape, row, j, into);
      if (shape.scales == ScaleType::kTwoLevel) {
        const std::uint64_t row_bytes = shape.k / format.block * format.block_bytes;
        pack_two_levels(shape, format,
                        static_cast<const std::uint8_t*>(weights) + (output + j) * row_bytes, j,
                        into);
      }
    }
  }
}

void pack_grouped_bias(const GroupedShape& shape, std::uint32_t type, const void* weights,
                       std::byte* packed) {
  if (shape.bias == 0) return;
  std::ranges::copy(
      formats::bias_of(formats::format_of(type), shape.k, shape.n, shape.bias, weights),
      reinterpret_cast<float*>(packed + shape.bias_at()));
}

}  // namespace tare::kernels
