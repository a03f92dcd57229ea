// The weights of one matrix as its file has them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "load/mapped_file.h"
#include "load/source.h"

namespace tare::load {

using Bytes = std::span<const std::uint8_t>;

// Mapped, not read. Thread-safe once it is there.
class StoredMatrix {
 public:
  // Throws tare::Error (kInput) where a file is absent or too short, a part has not the bytes that
  // scheme, shape and bits ask for, or a group of act-order is beyond the last.
  explicit StoredMatrix(const Source& source);

  const Source& source() const { return source_; }
  std::uint64_t groups() const { return source_.group == 0 ? 0 : source_.k / source_.group; }
  // As the scheme says (problem/storage.h).
  Bytes codes() const { return codes_; }
  Bytes scales() const { return scales_; }
  Bytes zeros() const { return zeros_; }
  Bytes order() const { return order_; }

  // XXH3, 128 bits, over codes, scales, zeros and order as they lie in the file.
  std::string digest() const;

 private:
  Bytes map(const Piece& piece);
  void check_parts() const;

  Source source_;
  std::map<std::string, MappedFile> files_;
  Bytes codes_, scales_, zeros_, order_;
};

}  // namespace tare::load
