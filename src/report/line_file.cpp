#include "report/line_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/error.h"

namespace tare::report {
namespace {

// What to do about an errno of open or write.
const char* advice(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "its folder does not exist: create it, or name another";
    case EACCES:
    case EPERM:
      return "you may not write there: name a file in a folder of your own";
    case EROFS:
      return "that file system is read-only: name a file on another";
    case EISDIR:
      return "that is a folder: name a file";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "make room, or name a file on another disk";
    default:
      return "name another file";
  }
}

int open_for_writing(const std::filesystem::path& path) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

// 0, or the errno of the write that failed; then part of the bytes may have been written.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// 0, or an errno. A pipe or a terminal cannot be synchronised and need not be.
int synchronise(int descriptor) {
  while (::fsync(descriptor) != 0) {
    if (errno == EINTR) continue;
    return errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
  }
  return 0;
}

}  // namespace

LineFile::LineFile(const std::filesystem::path& path)
    : path_(path), descriptor_(open_for_writing(path)) {
  if (descriptor_ >= 0) return;
  const int error = errno;
  fail(Blame::kInput, "cannot create the results file '{}': {}; {}", path.string(),
       std::strerror(error), advice(error));
}

LineFile::~LineFile() {
  ::close(descriptor_);
}

void LineFile::write(std::string line) {
  line += '\n';
  if (const int error = write_all(descriptor_, line)) give_up(error);
  if (const int error = synchronise(descriptor_)) give_up(error);
  safe_bytes_ += static_cast<std::int64_t>(line.size());
  ++lines_;
}

void LineFile::give_up(int error) {
  // Takes a partial line back, so that the next row does not continue it. Where the file is no
  // plain file this fails, and the reader passes over the partial line.
  if (::ftruncate(descriptor_, safe_bytes_) == 0) ::lseek(descriptor_, safe_bytes_, SEEK_SET);
  const std::size_t rows = lines_ == 0 ? 0 : lines_ - 1;  // the first line is a header
  fail(Blame::kMachine,
       "cannot write to the results file '{}': {}; {} row{} written before {} safe; {}",
       path_.string(), std::strerror(error), rows == 0 ? "no" : std::to_string(rows),
       rows == 1 ? "" : "s", rows == 1 ? "is" : "are", advice(error));
}

}  // namespace tare::report
