// Rows for the tests of the report: made up, but whole, so that the judge has something to say of
// them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "report/results.h"

namespace tare::report::samples {

struct Wanted {
  std::string projection = "q/o";
  std::uint64_t k = 1536, n = 1536;
  std::uint32_t rows = 1;
  double incumbent_seconds = 150e-6;  // of one dispatch
  double candidate_seconds = 120e-6;
  double overhead_seconds = 1e-6;  // of one region, every arm
  std::uint64_t differing = 0;     // bits
  std::uint32_t blocks = 40;
  std::uint64_t seed = 1;
};

Header header();
Row judged_row(const Wanted& wanted);
Row failed_row(const std::string& sentence);

// A row without samples whose judgement is set by hand, for tests of what is printed.
Row printed_row(double ratio, judge::Interval interval, judge::Verdict verdict,
                judge::Decision decision);

// A path of its own for each test, removed at the end.
class TemporaryFile {
 public:
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace tare::report::samples
