// A file read from front to back, where every length is checked against what is left of the file.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <type_traits>

namespace tare::problem {

// Every function throws tare::Error (Blame::kInput) naming the path, the byte and `what` was being
// read when the file is too short for it; nothing is allocated before that check. Not for use from
// several threads.
class ByteReader {
 public:
  // Throws when the path is missing, is not a regular file, or cannot be read.
  explicit ByteReader(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t position() const { return position_; }
  std::uint64_t remaining() const { return size_ - position_; }

  // A little-endian unsigned integer.
  template <typename Unsigned>
  Unsigned read(std::string_view what) {
    static_assert(std::is_unsigned_v<Unsigned>, "read signed values by their bits");
    std::array<unsigned char, sizeof(Unsigned)> bytes{};
    fill(bytes.data(), bytes.size(), what);
    Unsigned value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      value = static_cast<Unsigned>(value << 8 | bytes[i]);
    }
    return value;
  }

  std::string read_bytes(std::uint64_t count, std::string_view what);
  void skip(std::uint64_t count, std::string_view what);

  // The first `most` bytes of the file, or fewer when it is shorter; the position stays.
  std::string peek(std::size_t most);

 private:
  void require(std::uint64_t count, std::string_view what) const;
  void fill(void* bytes, std::size_t count, std::string_view what);

  std::filesystem::path path_;
  std::ifstream stream_;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
};

}  // namespace tare::problem
