#include "report/line_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/write_file.h"

namespace tare::report {
namespace {

int open_for_writing(const std::filesystem::path& path) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

}  // namespace

LineFile::LineFile(const std::filesystem::path& path)
    : path_(path), descriptor_(open_for_writing(path)) {
  if (descriptor_ >= 0) return;
  const std::error_code error(errno, std::generic_category());
  fail(Blame::kInput, "cannot create the results file '{}': {}; {}", path.string(), error.message(),
       advice(error));
}

LineFile::~LineFile() {
  ::close(descriptor_);
}

void LineFile::write(std::string line) {
  line += '\n';
  if (const auto error = write_all(descriptor_, line)) give_up(error);
  if (const auto error = synchronise(descriptor_)) give_up(error);
  safe_bytes_ += static_cast<std::int64_t>(line.size());
  ++lines_;
}

void LineFile::give_up(std::error_code error) {
  // Takes a partial line back, so that the next row does not continue it. Where the file is no
  // plain file this fails, and the reader passes over the partial line.
  if (::ftruncate(descriptor_, safe_bytes_) == 0) ::lseek(descriptor_, safe_bytes_, SEEK_SET);
  const std::size_t rows = lines_ == 0 ? 0 : lines_ - 1;  // the first line is a header
  fail(Blame::kMachine,
       "cannot write to the results file '{}': {}; {} row{} written before {} safe; {}",
       path_.string(), error.message(), rows == 0 ? "no" : std::to_string(rows),
       rows == 1 ? "" : "s", rows == 1 ? "is" : "are", advice(error));
}

}  // namespace tare::report
