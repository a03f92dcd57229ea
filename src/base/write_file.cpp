#include "base/write_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace tare {
namespace {

std::error_code last_error() {
  return {errno, std::generic_category()};
}

std::error_code write_new(const std::filesystem::path& path, std::string_view contents) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return last_error();
  std::error_code error = write_all(descriptor, contents);
  if (!error) error = synchronise(descriptor);
  if (::close(descriptor) != 0 && !error && errno != EINTR) error = last_error();
  return error;
}

}  // namespace

const char* advice(std::error_code error) {
  switch (error.value()) {
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

std::error_code write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return last_error();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

std::error_code synchronise(int descriptor) {
  while (::fsync(descriptor) != 0) {
    if (errno == EINTR) continue;
    if (errno == EINVAL || errno == ENOTSUP || errno == EROFS) return {};
    return last_error();
  }
  return {};
}

std::error_code replace_file(const std::filesystem::path& path, std::string_view contents) {
  const std::filesystem::path beside = path.string() + "." + std::to_string(::getpid()) + ".new";
  std::error_code error = write_new(beside, contents);
  if (!error) std::filesystem::rename(beside, path, error);
  std::error_code ignored;
  if (error) std::filesystem::remove(beside, ignored);
  return error;
}

}  // namespace tare
