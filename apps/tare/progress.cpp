#include "progress.h"

#include <fmt/format.h>

#include <cstdio>

namespace tare::app {

Progress::Progress(std::size_t rows, bool shown) : rows_(rows), shown_(shown) {}
Progress::~Progress() {
  clear();
}

void Progress::row(const std::string& name) {
  row_ = name;
  step_ = "starting";
  show();
}

void Progress::step(const char* what) {
  step_ = what;
  show();
}

void Progress::row_done() {
  ++done_;
}

void Progress::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

std::string Progress::time_left() const {
  if (done_ == 0) return "";
  const double passed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double left = passed / static_cast<double>(done_) * static_cast<double>(rows_ - done_);
  return fmt::format(", about {:.0f} s left", left);
}

void Progress::show() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K[{}/{}] {}: {}{}", done_, rows_, row_, step_, time_left());
  std::fflush(stderr);
}

}  // namespace tare::app
