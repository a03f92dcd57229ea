#include "load/stored_matrix.h"

#include "base/error.h"
#include "base/hash128.h"
#include "formats/weight_format.h"
#include "load/numbers.h"
#include "problem/text.h"

namespace tare::load {
namespace {

using problem::Scheme;

// What is wrong with a matrix, and where.
template <typename... Args>
[[noreturn]] void reject(const Source& source, fmt::format_string<Args...> format, Args&&... args) {
  fail(Blame::kInput, "{}: broken: {}", problem::quoted(source.codes.path),
       fmt::format(format, std::forward<Args>(args)...));
}

void require_bytes(const Source& source, const char* what, Bytes bytes, std::uint64_t wanted) {
  if (bytes.size() != wanted)
    reject(source, "the {} of a matrix of k = {} and n = {} have {} bytes, not {}", what, source.k,
           source.n, bytes.size(), wanted);
}

std::uint64_t in_words(std::uint64_t count, std::uint32_t bits) {
  return (count * bits + 31) / 32 * 4;
}

// Bytes of all zeros, or of the biases; 0 where there are none.
std::uint64_t zero_bytes(const Source& source, std::uint64_t groups) {
  switch (source.scheme) {
    case Scheme::kMlx:
      return groups * source.n * number_bytes(source.zeros.type);
    case Scheme::kGptq:
    case Scheme::kAwq:
    case Scheme::kCompressed:
      return groups * in_words(source.n, source.bits);
    default:
      return 0;
  }
}

std::uint64_t code_bytes(const Source& source) {
  switch (source.scheme) {
    case Scheme::kMlx:
    case Scheme::kCompressed:
    case Scheme::kGptq:
      return source.n * in_words(source.k, source.bits);
    case Scheme::kAwq:
      return source.k * in_words(source.n, source.bits);
    default:
      return source.k * source.n;
  }
}

bool known_bits(const Source& source) {
  const bool whole = source.bits == 2 || source.bits == 4 || source.bits == 8;
  switch (source.scheme) {
    case Scheme::kMlx:
      return source.bits >= 2 && source.bits <= 8;
    case Scheme::kAwq:
      return source.bits == 4 && source.n % 8 == 0;
    case Scheme::kGptq:
      return whole && source.k * source.bits % 32 == 0 && source.n * source.bits % 32 == 0;
    default:
      return whole;
  }
}

}  // namespace

StoredMatrix::StoredMatrix(const Source& source)
    : source_(source),
      codes_(map(source.codes)),
      scales_(map(source.scales)),
      zeros_(map(source.zeros)),
      order_(map(source.order)) {
  check_parts();
}

Bytes StoredMatrix::map(const Piece& piece) {
  if (*piece.path == '\0') return {};
  const auto found = files_.find(piece.path);
  const MappedFile& file =
      found != files_.end() ? found->second : files_.emplace(piece.path, piece.path).first->second;
  return file.bytes(piece.offset, piece.bytes);
}

void StoredMatrix::check_parts() const {
  if (source_.scheme <= Scheme::kBlocks) {
    const auto& format = formats::format_of(source_.type);
    return require_bytes(source_, "weights", codes_,
                         formats::layout_of(format, source_.k, source_.n).total_bytes);
  }
  if (source_.group == 0 || source_.k % source_.group != 0)
    reject(source_, "groups of {} do not divide k = {}", source_.group, source_.k);
  if (!known_bits(source_)) reject(source_, "codes of {} bits", source_.bits);
  require_bytes(source_, "codes", codes_, code_bytes(source_));
  require_bytes(source_, "scales", scales_,
                groups() * source_.n * number_bytes(source_.scales.type));
  if (!zeros_.empty() || source_.scheme != Scheme::kCompressed)
    require_bytes(source_, "zeros or biases", zeros_, zero_bytes(source_, groups()));
  if (order_.empty()) return;
  require_bytes(source_, "groups of act-order", order_, source_.k * 4);
  for (std::uint64_t i = 0; i < source_.k; ++i)
    if (word_at(order_, i) >= groups())
      reject(source_, "act-order puts element {} into group {} of {}", i, word_at(order_, i),
             groups());
}

std::string StoredMatrix::digest() const {
  Hash128 hash;
  for (const Bytes part : {codes_, scales_, zeros_, order_}) hash.add(part.data(), part.size());
  return hash.hexadecimal();
}

}  // namespace tare::load
