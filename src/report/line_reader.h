// The lines of a results file, one at a time, however hostile the file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace tare::report {

struct FileLine {
  std::size_t number = 0;  // from 1
  std::string text;
  bool complete = false;  // it ends in '\n'
};

class LineReader {
 public:
  // Throws tare::Error (kInput) when there is no such file, or it is no plain one: a pipe or a
  // device may never end.
  explicit LineReader(const std::filesystem::path& path);

  // False at the end of the file. Throws tare::Error (kInput) when it cannot be read, or when a
  // line is longer than any of ours.
  bool next(FileLine& line);

 private:
  int next_byte();
  void check_length(const FileLine& line) const;

  std::filesystem::path path_;
  std::ifstream stream_;
};

}  // namespace tare::report
