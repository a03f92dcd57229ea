#include "load/source.h"

#include <cstring>

#include "base/error.h"
#include "formats/weight_format.h"
#include "problem/text.h"

namespace tare::load {
namespace {

std::uint32_t number_type(const std::string& name) {
  if (name == "BF16") return TARE_BF16;
  if (name == "F16") return TARE_F16;
  return name == "F32" ? std::uint32_t{TARE_F32} : 0;
}

Piece piece_of(const problem::Piece& piece) {
  Piece result;
  if (piece.bytes == 0) return result;
  const std::string path = std::filesystem::absolute(piece.file).string();
  if (path.size() >= Piece::kMostPath)
    fail(Blame::kInput, "{}: a path of {} bytes; weights are read from paths of less than {}",
         problem::quoted(piece.file), path.size(), Piece::kMostPath);
  std::memcpy(result.path, path.data(), path.size());
  result.offset = piece.offset;
  result.bytes = piece.bytes;
  result.type = number_type(piece.type);
  return result;
}

}  // namespace

Source source_of(const problem::Matrix& matrix) {
  const problem::Storage& storage = matrix.storage;
  if (storage.scheme == problem::Scheme::kUnknown)
    fail(Blame::kInput, "'{}': {}", matrix.tensor.empty() ? matrix.name : matrix.tensor,
         matrix.tensor.empty()
             ? std::string("only its shape is known; give a file that holds its weights")
             : fmt::format("weights stored as {} are not read", matrix.stored));
  Source source;
  source.scheme = storage.scheme;
  source.type =
      storage.scheme <= problem::Scheme::kBlocks ? problem::weight_type(matrix.stored) : 0;
  source.bits = storage.bits;
  source.group = storage.group;
  source.k = matrix.k;
  source.n = matrix.n;
  source.zeros_less_one = storage.zeros_less_one ? 1 : 0;
  source.codes = piece_of(storage.codes);
  source.scales = piece_of(storage.scales);
  source.zeros = piece_of(storage.zeros);
  source.order = piece_of(storage.order);
  return source;
}

}  // namespace tare::load
