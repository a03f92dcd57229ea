#include "device/quiet.h"

#include <fmt/format.h>
#include <time.h>

#include <filesystem>

#include "device/text_file.h"

namespace tare::device {

double cpu_seconds(pid_t pid, bool* alive) {
  clockid_t clock{};
  timespec time{};
  const bool found =
      pid > 0 && clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &time) == 0;
  if (alive != nullptr) *alive = found;
  if (!found) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double waiting_seconds(pid_t pid) {
  double seconds = 0;
  std::error_code ignored;
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  for (const auto& task : std::filesystem::directory_iterator(tasks, ignored)) {
    // Time run, time waited on a run queue (both in ns), and time slices.
    const std::string text = read_text(task.path() / "schedstat").value_or("");
    const auto words = words_of(text);
    if (words.size() == 3)
      seconds += static_cast<double>(parse_number(words[1]).value_or(0)) * 1e-9;
  }
  return seconds;
}

}  // namespace tare::device
