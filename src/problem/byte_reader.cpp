#include "problem/byte_reader.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "problem/text.h"

namespace tare::problem {

namespace fs = std::filesystem;

ByteReader::ByteReader(const fs::path& path) : path_(path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    fail(Blame::kInput, "{}: no such file", quoted(path));
  }
  if (error) fail(Blame::kInput, "{}: cannot be looked at: {}", quoted(path), error.message());
  if (!fs::is_regular_file(status)) {
    fail(Blame::kInput, "{}: not a regular file; give the path of a model's file", quoted(path));
  }
  size_ = fs::file_size(path, error);
  errno = 0;
  stream_.open(path, std::ios::binary);
  if (error || !stream_) {
    fail(Blame::kInput, "{}: cannot be read: {}", quoted(path),
         std::generic_category().message(errno));
  }
}

std::string ByteReader::read_bytes(std::uint64_t count, std::string_view what) {
  require(count, what);
  std::string bytes(count, '\0');
  fill(bytes.data(), bytes.size(), what);
  return bytes;
}

void ByteReader::skip(std::uint64_t count, std::string_view what) {
  require(count, what);
  position_ += count;
  // A seek throws the stream's buffer away: over the 262,144 short strings of a vocabulary it would
  // read each block of the file hundreds of times.
  constexpr std::uint64_t kShort = 4096;
  if (count <= kShort) {
    stream_.ignore(static_cast<std::streamsize>(count));
  } else {
    stream_.seekg(static_cast<std::streamoff>(position_));
  }
}

std::string ByteReader::peek(std::size_t most) {
  std::string bytes(std::min<std::uint64_t>(most, size_), '\0');
  stream_.seekg(0);
  stream_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream_) fail(Blame::kInput, "{}: reading its first bytes failed", quoted(path_));
  stream_.seekg(static_cast<std::streamoff>(position_));
  return bytes;
}

void ByteReader::require(std::uint64_t count, std::string_view what) const {
  if (count <= remaining()) return;
  fail(Blame::kInput, "{}: cut short or broken: {} at byte {} needs {} bytes, and {} are left",
       quoted(path_), what, position_, count, remaining());
}

void ByteReader::fill(void* bytes, std::size_t count, std::string_view what) {
  require(count, what);
  stream_.read(static_cast<char*>(bytes), static_cast<std::streamsize>(count));
  if (!stream_) {
    fail(Blame::kInput, "{}: reading {} at byte {} failed", quoted(path_), what, position_);
  }
  position_ += count;
}

}  // namespace tare::problem
