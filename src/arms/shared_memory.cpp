#include "arms/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace tare::arms {
namespace {

// Populated at once: a page fault inside a region would be the harness's own (TRAPS T13).
void* map(int descriptor, std::size_t bytes, int protection) {
  void* data = mmap(nullptr, bytes, protection, MAP_SHARED | MAP_POPULATE, descriptor, 0);
  if (data == MAP_FAILED)
    fail(Blame::kMachine, "Cannot map {} bytes of shared memory: {}. Free some memory.", bytes,
         std::strerror(errno));
  return data;
}

}  // namespace

SharedMemory SharedMemory::create(const char* label, std::size_t bytes) {
  const int descriptor = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    const int reason = errno;
    if (descriptor >= 0) close(descriptor);
    fail(Blame::kMachine, "Cannot create {} bytes of shared memory for {}: {}. Free some memory.",
         bytes, label, std::strerror(reason));
  }
  return SharedMemory(descriptor, map(descriptor, bytes, PROT_READ | PROT_WRITE), bytes);
}

SharedMemory SharedMemory::attach(int descriptor, std::size_t bytes, Access access) {
  const int protection = access == Access::kReadOnly ? PROT_READ : PROT_READ | PROT_WRITE;
  return SharedMemory(descriptor, map(descriptor, bytes, protection), bytes);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept {
  *this = std::move(other);
}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  if (this == &other) return *this;
  close_all();
  descriptor_ = std::exchange(other.descriptor_, -1);
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

SharedMemory::~SharedMemory() {
  close_all();
}

void SharedMemory::close_all() {
  if (data_ != nullptr) munmap(data_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

void SharedMemory::forbid_new_writers() {
  if (fcntl(descriptor_, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    fail(Blame::kMachine,
         "Cannot seal shared memory against writing: {}. A kernel of 5.1 or newer is needed.",
         std::strerror(errno));
}

}  // namespace tare::arms
