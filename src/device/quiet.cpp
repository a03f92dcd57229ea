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

unsigned running_threads(pid_t pid) {
  unsigned running = 0;
  std::error_code ignored;
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  for (const auto& task : std::filesystem::directory_iterator(tasks, ignored)) {
    // "pid (name) S ...", and a name may hold parentheses.
    const std::string text = read_text(task.path() / "stat").value_or("");
    const std::size_t name_end = text.rfind(')');
    if (name_end != std::string::npos && text.compare(name_end, 3, ") R") == 0) ++running;
  }
  return running;
}

}  // namespace tare::device
