#include "load/lay_down.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "formats/weight_format.h"
#include "load/numbers.h"
#include "problem/text.h"

namespace tare::load {
namespace {

using formats::Layout;
using formats::WeightFormat;
using problem::Scheme;

constexpr std::uint64_t kAlignment = 64;  // of what bind() is handed
// Columns of eight in the places of an AWQ word, from the low bits on.
constexpr std::array<std::uint32_t, 8> kColumnAt = {0, 2, 4, 6, 1, 3, 5, 7};

// One matrix on its way into one format.
struct Job {
  const StoredMatrix& matrix;
  const Source& source;
  const WeightFormat& format;
  Layout layout;
  std::uint8_t* into;
};

template <typename... Args>
[[noreturn]] void refuse(const Job& job, fmt::format_string<Args...> format, Args&&... args) {
  fail(Blame::kInput, "{}: these weights cannot be had as {} without a change: {}",
       problem::quoted(job.source.codes.path), job.format.name,
       fmt::format(format, std::forward<Args>(args)...));
}

std::uint32_t bits_of(const WeightFormat& format) {
  return static_cast<std::uint32_t>(8 * format.block_bytes / format.block);
}

void require_fitting(const Job& job) {
  const Source& s = job.source;
  if (job.format.family != formats::Family::kPlanes)
    refuse(job, "they are codes with scales in planes");
  if (s.bits != bits_of(job.format)) refuse(job, "their codes have {} bits", s.bits);
  const std::uint64_t group = job.format.group == 0 ? s.k : job.format.group;
  if (s.group % group != 0) refuse(job, "they have a scale for every {} of k", s.group);
  if (s.scheme == Scheme::kMlx && (!job.format.has_bias || job.format.has_zeros))
    refuse(job, "they have biases");
  if (s.scheme == Scheme::kInt8 && job.format.has_bias) refuse(job, "they have none");
  for (std::uint64_t i = 0; i < job.matrix.order().size() / 4; ++i)
    if (word_at(job.matrix.order(), i) != i / s.group)
      refuse(job, "act-order: element {} of k belongs to group {}", i,
             word_at(job.matrix.order(), i));
}

void copy_words_across(const Job& job) {  // [k / 8, n] words of k become [n, k / 8]
  const std::uint64_t words = job.layout.code_row / 4;
  for (std::uint64_t w = 0; w < words; ++w)
    for (std::uint64_t j = 0; j < job.source.n; ++j)
      std::memcpy(job.into + j * job.layout.code_row + 4 * w,
                  job.matrix.codes().data() + 4 * (w * job.source.n + j), 4);
}

void unpack_awq(const Job& job) {
  const std::uint64_t words = job.source.n / 8;
  for (std::uint64_t i = 0; i < job.source.k; i += 2)
    for (std::uint64_t w = 0; w < words; ++w) {
      std::uint32_t even = word_at(job.matrix.codes(), i * words + w);
      std::uint32_t odd = word_at(job.matrix.codes(), (i + 1) * words + w);
      for (const std::uint32_t column : kColumnAt) {
        job.into[(8 * w + column) * job.layout.code_row + i / 2] =
            static_cast<std::uint8_t>((even & 15) | (odd & 15) << 4);
        even >>= 4, odd >>= 4;
      }
    }
}

void lay_down_codes(const Job& job) {
  switch (job.source.scheme) {
    case Scheme::kGptq:
      copy_words_across(job);
      break;
    case Scheme::kAwq:
      unpack_awq(job);
      break;
    default: {  // rows of whole words
      const std::uint64_t stored_row = job.matrix.codes().size() / job.source.n;
      for (std::uint64_t j = 0; j < job.source.n; ++j)
        std::memcpy(job.into + j * job.layout.code_row, job.matrix.codes().data() + j * stored_row,
                    job.layout.code_row);
    }
  }
  // Of 8 bits, codes without biases are signed here, and counted from zero in words.
  if (job.source.bits != 8 || job.format.has_bias || job.source.scheme == Scheme::kInt8) return;
  for (std::uint64_t i = 0; i < job.layout.code_row * job.source.n; ++i) job.into[i] ^= 0x80;
}

// Zeros as codes, [n, groups]; empty where all are half of the codes' range.
std::vector<std::uint32_t> zeros_of(const Job& job) {
  const Source& s = job.source;
  const Bytes stored = job.matrix.zeros();
  if (stored.empty() || s.scheme == Scheme::kMlx) return {};
  const std::uint64_t groups = job.matrix.groups(), in_word = 32 / s.bits;
  const std::uint64_t words = (s.n + in_word - 1) / in_word;
  const bool by_word = s.scheme == Scheme::kCompressed;  // [words, groups], else [groups, words]
  const std::uint32_t mask = s.bits == 8 ? 255 : (1U << s.bits) - 1;
  std::vector<std::uint32_t> zeros(s.n * groups);
  for (std::uint64_t g = 0; g < groups; ++g)
    for (std::uint64_t j = 0; j < s.n; ++j) {
      const std::uint64_t w = j / in_word;
      const std::uint32_t word = word_at(stored, by_word ? w * groups + g : g * words + w);
      const std::uint64_t place = s.scheme == Scheme::kAwq
                                      ? std::ranges::find(kColumnAt, j % 8) - kColumnAt.begin()
                                      : j % in_word;
      const std::uint32_t zero = word >> (place * s.bits) & mask;
      if (s.zeros_less_one != 0 && zero == mask)
        refuse(job, "the zero of output {}, group {} is stored as {}, on which readers differ", j,
               g, zero);
      zeros[j * groups + g] = zero + s.zeros_less_one;
    }
  const std::uint32_t half = 1U << (s.bits - 1);
  if (std::ranges::all_of(zeros, [&](std::uint32_t zero) { return zero == half; })) return {};
  return zeros;
}

// The bits of a number that `type` holds exactly.
std::uint16_t exact_bits(const Job& job, double value, const char* what, std::uint64_t j,
                         std::uint64_t g) {
  const bool half = job.format.scales == TARE_F16;
  const auto narrow = static_cast<float>(value);
  const std::uint16_t bits = half ? formats::to_f16_bits(narrow) : formats::to_bf16_bits(narrow);
  const double kept = half ? formats::from_f16(bits) : formats::from_bf16(bits);
  if (kept != value && !(std::isnan(kept) && std::isnan(value)))
    refuse(job, "the {} of output {}, group {}, {}, is no number of {}", what, j, g, value,
           half ? "f16" : "bf16");
  return bits;
}

// Scale of an output and a group as the file has them; bias of MLX alike.
double stored_number(const Job& job, Bytes numbers, std::uint32_t type, std::uint64_t j,
                     std::uint64_t g) {
  const bool across = job.source.scheme == Scheme::kGptq || job.source.scheme == Scheme::kAwq;
  return number_at(numbers, across ? g * job.source.n + j : j * job.matrix.groups() + g, type);
}

void lay_down_planes(const Job& job) {
  const Source& s = job.source;
  const std::vector<std::uint32_t> zeros = zeros_of(job);
  if (!zeros.empty() && !job.format.has_bias)
    refuse(job, "they have zeros that are not half of the range of codes");
  const std::uint64_t group = job.format.group == 0 ? s.k : job.format.group;
  for (std::uint64_t j = 0; j < s.n; ++j)
    for (std::uint64_t own = 0; own < job.layout.groups; ++own) {
      const std::uint64_t g = own * group / s.group, at = j * job.layout.groups + own;
      const double scale = stored_number(job, job.matrix.scales(), s.scales.type, j, g);
      const std::uint16_t scale_bits = exact_bits(job, scale, "scale", j, g);
      std::memcpy(job.into + job.layout.scales + 2 * at, &scale_bits, 2);
      if (!job.format.has_bias) continue;
      const std::uint32_t zero =
          zeros.empty() ? 1U << (s.bits - 1) : zeros[j * job.matrix.groups() + g];
      if (job.format.has_zeros) {
        job.into[job.layout.biases + at] = static_cast<std::uint8_t>(zero);
        continue;
      }
      const double bias = s.scheme == Scheme::kMlx
                              ? stored_number(job, job.matrix.zeros(), s.zeros.type, j, g)
                              : -scale * zero;
      const std::uint16_t bias_bits = exact_bits(job, bias, "bias", j, g);
      std::memcpy(job.into + job.layout.biases + 2 * at, &bias_bits, 2);
    }
}

}  // namespace

const void* in_place(const StoredMatrix& matrix, std::uint32_t type) {
  const Source& source = matrix.source();
  if (source.scheme > Scheme::kBlocks || source.type != type) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(matrix.codes().data());
  return address % kAlignment == 0 ? matrix.codes().data() : nullptr;
}

void lay_down(const StoredMatrix& matrix, std::uint32_t type, void* into) {
  const Source& s = matrix.source();
  const WeightFormat& format = formats::format_of(type);
  const Job job{matrix, s, format, formats::layout_of(format, s.k, s.n),
                static_cast<std::uint8_t*>(into)};
  if (s.scheme <= Scheme::kBlocks) {
    if (s.type != type) refuse(job, "they are {}", formats::type_name(s.type));
    std::memcpy(into, matrix.codes().data(), matrix.codes().size());
    return;
  }
  require_fitting(job);
  lay_down_codes(job);
  lay_down_planes(job);
}

void require_exact(const StoredMatrix& matrix, std::uint32_t type) {
  const Source& s = matrix.source();
  if (s.scheme <= Scheme::kBlocks && s.type == type) return;
  std::vector<std::uint8_t> bytes(
      formats::layout_of(formats::format_of(type), s.k, s.n).total_bytes);
  lay_down(matrix, type, bytes.data());
}

}  // namespace tare::load
