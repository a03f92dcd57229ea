#include "load/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "problem/text.h"

namespace tare::load {
namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : value_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (value_ < 0)
      fail(Blame::kInput, "{}: cannot be opened: {}", problem::quoted(path), std::strerror(errno));
  }
  ~Descriptor() { close(value_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const { return value_; }

 private:
  int value_;
};

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const Descriptor file(path);
  struct stat status {};
  if (fstat(file.value(), &status) != 0 || !S_ISREG(status.st_mode))
    fail(Blame::kInput, "{}: is no regular file", problem::quoted(path));
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.value(), 0);
  if (data_ != MAP_FAILED) return;
  data_ = nullptr;
  fail(Blame::kInput, "{}: cannot be mapped: {}", problem::quoted(path), std::strerror(errno));
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

std::span<const std::uint8_t> MappedFile::bytes(std::uint64_t offset, std::uint64_t count) const {
  if (offset > size_ || count > size_ - offset)
    fail(Blame::kInput,
         "{}: cut short or broken: {} bytes from byte {} on are needed, and it has {}",
         problem::quoted(path_), count, offset, size_);
  return {static_cast<const std::uint8_t*>(data_) + offset, count};
}

}  // namespace tare::load
