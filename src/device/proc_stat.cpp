#include "device/proc_stat.h"

#include <unistd.h>

#include "device/text_file.h"

namespace tare::device {
namespace {

double field(const std::vector<std::string_view>& words, std::size_t index) {
  if (index >= words.size()) return 0;
  return static_cast<double>(parse_number(words[index]).value_or(0));
}

}  // namespace

ProcessorTime parse_processor_time(std::string_view stat, double ticks) {
  const auto words = words_of(stat.substr(0, stat.find('\n')));
  if (words.empty() || words[0] != "cpu") return {};
  enum { kUser = 1, kNice = 2, kSystem = 3, kIrq = 6, kSoftIrq = 7, kSteal = 8 };
  ProcessorTime time;
  for (const int part : {kUser, kNice, kSystem, kIrq, kSoftIrq}) {
    time.busy += field(words, static_cast<std::size_t>(part)) / ticks;
  }
  time.steal = field(words, kSteal) / ticks;
  return time;
}

ProcessTime parse_process_time(std::string_view stat, double ticks) {
  const std::size_t open = stat.find('('), close = stat.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  ProcessTime process;
  process.pid = static_cast<int>(parse_number(trimmed(stat.substr(0, open))).value_or(0));
  process.name = stat.substr(open + 1, close - open - 1);
  // After the name: state, parent, ...; user and system time are the 12th and 13th of them
  // (proc(5): fields 14, 15).
  const auto words = words_of(stat.substr(close + 1));
  process.seconds = (field(words, 11) + field(words, 12)) / ticks;
  return process;
}

double ticks_per_second() {
  return static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace tare::device
