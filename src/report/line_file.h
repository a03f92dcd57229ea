// A file of lines that grows while something is measured: what stands in it is safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

namespace tare::report {

// Every line is flushed to the disk before the call returns; the first one is a header, the others
// rows. Throws tare::Error (kInput when the file cannot be created: wrong folder, read-only;
// kMachine when the disk fills up: says that the rows before are safe). A line that could not be
// written whole is taken back where the file allows it, so that a later call may succeed. An
// existing file is replaced. Not thread-safe.
class LineFile {
 public:
  explicit LineFile(const std::filesystem::path& path);
  ~LineFile();  // closes the file; never throws
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  void write(std::string line);  // without its '\n'

 private:
  [[noreturn]] void give_up(std::error_code error);
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::int64_t safe_bytes_ = 0;  // of whole lines
  std::size_t lines_ = 0;
};

}  // namespace tare::report
