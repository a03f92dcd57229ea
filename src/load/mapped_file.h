// A file's bytes in memory, read from the disk as they are touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tare::load {

// Read-only and private. A file that is cut short while it is mapped ends the process (SIGBUS)
// where it touches what is gone: in an arm host that costs a row. Not for use from several threads
// while it is moved.
class MappedFile {
 public:
  // Throws tare::Error (kInput) when it cannot be opened or mapped, or is no regular file.
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  // Throws tare::Error (kInput) where the file has not so many bytes.
  std::span<const std::uint8_t> bytes(std::uint64_t offset, std::uint64_t count) const;

 private:
  std::string path_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tare::load
