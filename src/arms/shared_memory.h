// Memory shared between an arm host and its parent, without a name in the file system.
#pragma once

#include <cstddef>

namespace tare::arms {

// An anonymous shared memory file, mapped. Owns descriptor and mapping. Not thread-safe.
class SharedMemory {
 public:
  enum class Access { kReadWrite, kReadOnly };

  SharedMemory() = default;
  // Creates `bytes` of zeroed memory. Throws tare::Error (kMachine).
  static SharedMemory create(const char* label, std::size_t bytes);
  // Maps what another process created. Throws tare::Error (kMachine).
  static SharedMemory attach(int descriptor, std::size_t bytes, Access access);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  void* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  int descriptor() const { return descriptor_; }

  // From now on no process can map it writable anew: the mappings that exist stay. Hosts get their
  // inputs so.
  void forbid_new_writers();

 private:
  SharedMemory(int descriptor, void* data, std::size_t bytes)
      : descriptor_(descriptor), data_(data), bytes_(bytes) {}
  void close_all();

  int descriptor_ = -1;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tare::arms
