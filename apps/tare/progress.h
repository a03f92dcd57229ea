// The one moving line on stderr: rows done, what is running, time left. Nothing at all when stderr
// is no terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace tare::app {

class Progress {
 public:
  Progress(std::size_t rows, bool shown);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void row(const std::string& name);  // a row begins
  void step(const char* what);        // "preparing", "screening", "proving", "weighing"
  void row_done();
  void clear();  // before a line is printed

 private:
  std::string time_left() const;
  void show();

  std::size_t rows_, done_ = 0;
  bool shown_;
  std::string row_, step_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tare::app
