#include "device/memory.h"

#include <algorithm>

#include "device/limits.h"
#include "device/text_file.h"

namespace tare::device {
namespace {

// "MemTotal:       24684084 kB"; 0 when the line is missing.
std::uint64_t meminfo_bytes(std::string_view text, std::string_view name) {
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);
    if (words.size() >= 2 && words[0] == name) return parse_number(words[1]).value_or(0) << 10;
  }
  return 0;
}

}  // namespace

MemoryInfo parse_meminfo(std::string_view text) {
  MemoryInfo info;
  info.total_bytes = meminfo_bytes(text, "MemTotal:");
  info.available_bytes = meminfo_bytes(text, "MemAvailable:");
  if (info.available_bytes == 0) {
    info.available_bytes = meminfo_bytes(text, "MemFree:") + meminfo_bytes(text, "Cached:");
  }
  return info;
}

std::string chosen_word(std::string_view text) {
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos) return "";
  const std::size_t close = text.find(']', open);
  if (close == std::string_view::npos) return "";
  return std::string(text.substr(open + 1, close - open - 1));
}

MemoryInfo memory_info() {
  MemoryInfo info = parse_meminfo(read_text("/proc/meminfo").value_or(""));
  const GroupLimits limits = group_limits();
  if (limits.memory_bytes != 0) {
    const std::uint64_t left =
        limits.memory_bytes - std::min(limits.memory_bytes, limits.memory_used_bytes);
    info.available_bytes = std::min(info.available_bytes, left);
  }
  return info;
}

std::string huge_page_setting() {
  return chosen_word(read_text("/sys/kernel/mm/transparent_hugepage/enabled").value_or(""));
}

}  // namespace tare::device
