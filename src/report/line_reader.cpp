#include "report/line_reader.h"

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace tare::report {
namespace {

// A header is a few kB and a row of the longest default run far below 1 MB; a line past these is no
// results file, and must not fill the memory.
constexpr std::size_t kLongestHeader = std::size_t{16} << 20;
constexpr std::size_t kLongestRow = std::size_t{256} << 20;
constexpr int kEnd = std::char_traits<char>::eof();

std::ifstream open(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) {
    fail(Blame::kInput, "'{}' is a folder: name a results file", path.string());
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    fail(Blame::kInput,
         "'{}' is a pipe or a device, which need not end: write it into a file, and name that",
         path.string());
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    fail(Blame::kInput, "cannot read '{}': {}", path.string(), std::strerror(errno));
  }
  return stream;
}

}  // namespace

LineReader::LineReader(const std::filesystem::path& path) : path_(path), stream_(open(path)) {}

bool LineReader::next(FileLine& line) {
  line = {line.number + 1, {}, false};
  for (int byte = next_byte(); byte != kEnd; byte = next_byte()) {
    if (byte == '\n') {
      line.complete = true;
      return true;
    }
    line.text += static_cast<char>(byte);
    check_length(line);
  }
  return !line.text.empty();
}

int LineReader::next_byte() {
  try {
    return stream_.rdbuf()->sbumpc();
  } catch (const std::ios_base::failure& error) {
    fail(Blame::kInput, "cannot read '{}': {}", path_.string(), error.what());
  }
}

void LineReader::check_length(const FileLine& line) const {
  const std::size_t longest = line.number == 1 ? kLongestHeader : kLongestRow;
  if (line.text.size() <= longest) return;
  fail(Blame::kInput, "'{}', line {} is longer than {} MiB: not a results file of tare headroom",
       path_.string(), line.number, longest >> 20);
}

}  // namespace tare::report
