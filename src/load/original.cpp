#include "load/original.h"

#include <array>

#include "base/error.h"
#include "formats/decode.h"
#include "load/numbers.h"
#include "problem/text.h"

namespace tare::load {
namespace {

using problem::Scheme;

// The number of `bits` bits that begins at bit `at` of little-endian bytes.
std::uint32_t bits_at(Bytes bytes, std::uint64_t at, std::uint32_t bits) {
  std::uint32_t value = 0;
  for (std::uint32_t i = 0; i < bits; ++i) {
    const std::uint64_t bit = at + i;
    value |= (bytes[bit / 8] >> (bit % 8) & 1U) << i;
  }
  return value;
}

// Where AWQ keeps the fourth of a word that belongs to column c of eight.
constexpr std::array<std::uint32_t, 8> kPlaceOfColumn = {0, 4, 1, 5, 2, 6, 3, 7};

std::uint64_t awq_bit(std::uint64_t line, std::uint64_t n, std::uint64_t j) {
  return (line * n / 8 + j / 8) * 32 + std::uint64_t{4} * kPlaceOfColumn[j % 8];
}

// Of output j and element i.
std::uint32_t code(const StoredMatrix& matrix, std::uint64_t j, std::uint64_t i) {
  const Source& s = matrix.source();
  const std::uint64_t in_word = 32 / s.bits;
  switch (s.scheme) {
    case Scheme::kGptq:
      return bits_at(matrix.codes(), (i / in_word * s.n + j) * 32 + i % in_word * s.bits, s.bits);
    case Scheme::kAwq:
      return bits_at(matrix.codes(), awq_bit(i, s.n, j), s.bits);
    default: {  // rows of whole words
      const std::uint64_t row_bits = (s.k * s.bits + 31) / 32 * 32;
      return bits_at(matrix.codes(), j * row_bits + i * s.bits, s.bits);
    }
  }
}

std::uint32_t gptq_zero(const StoredMatrix& matrix, std::uint64_t j, std::uint64_t g) {
  const Source& s = matrix.source();
  const std::uint32_t stored = bits_at(matrix.zeros(), (g * s.n + j) * s.bits, s.bits);
  if (s.zeros_less_one == 0) return stored;
  if (stored == (1U << s.bits) - 1)
    fail(Blame::kInput,
         "{}: the zero of output {}, group {} is stored as {}, which some readers take for 0 and "
         "others for {}; store it as gptq_v2",
         problem::quoted(s.codes.path), j, g, stored, stored + 1);
  return stored + 1;
}

// In codes.
std::uint32_t zero(const StoredMatrix& matrix, std::uint64_t j, std::uint64_t g) {
  const Source& s = matrix.source();
  switch (s.scheme) {
    case Scheme::kGptq:
      return gptq_zero(matrix, j, g);
    case Scheme::kAwq:
      return bits_at(matrix.zeros(), awq_bit(g, s.n, j), s.bits);
    default: {
      if (matrix.zeros().empty()) return 1U << (s.bits - 1);
      const std::uint64_t in_word = 32 / s.bits;
      const std::uint64_t word = j / in_word * matrix.groups() + g;
      return bits_at(matrix.zeros(), word * 32 + j % in_word * s.bits, s.bits);
    }
  }
}

// Scale, or bias of MLX.
double number(const StoredMatrix& matrix, Bytes numbers, std::uint32_t type, std::uint64_t j,
              std::uint64_t g) {
  const Source& s = matrix.source();
  const bool by_group = s.scheme == Scheme::kGptq || s.scheme == Scheme::kAwq;
  return number_at(numbers, by_group ? g * s.n + j : j * matrix.groups() + g, type);
}

double weight(const StoredMatrix& matrix, std::uint64_t j, std::uint64_t i) {
  const Source& s = matrix.source();
  const std::uint64_t g = matrix.order().empty() ? i / s.group : word_at(matrix.order(), i);
  const double scale = number(matrix, matrix.scales(), s.scales.type, j, g);
  if (s.scheme == Scheme::kInt8)
    return scale * static_cast<std::int8_t>(matrix.codes()[j * s.k + i]);
  const double own = code(matrix, j, i);
  if (s.scheme == Scheme::kMlx)
    return scale * own + number(matrix, matrix.zeros(), s.zeros.type, j, g);
  return scale * (own - zero(matrix, j, g));
}

}  // namespace

void original_row(const StoredMatrix& matrix, std::uint64_t row, std::vector<double>& into) {
  const Source& s = matrix.source();
  if (s.scheme <= Scheme::kBlocks)
    return formats::dequantise_row(formats::format_of(s.type), s.k, s.n, matrix.codes().data(), row,
                                   into);
  into.resize(s.k);
  for (std::uint64_t i = 0; i < s.k; ++i) into[i] = weight(matrix, row, i);
}

}  // namespace tare::load
