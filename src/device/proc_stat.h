// The kernel's accounts of processor time in /proc, as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "device/machine.h"

namespace tare::device {

// From the first line of /proc/stat. `ticks_per_second`: sysconf(_SC_CLK_TCK). Guest time is part
// of user time there and not counted twice; waiting for a disk is not work. All 0 when the text is
// not that of /proc/stat.
ProcessorTime parse_processor_time(std::string_view stat, double ticks_per_second);

// One process as /proc/PID/stat has it.
struct ProcessTime {
  int pid = 0;       // 0: not a line of such a file
  std::string name;  // may hold blanks and parentheses
  double seconds = 0;
};
ProcessTime parse_process_time(std::string_view stat, double ticks_per_second);

double ticks_per_second();

}  // namespace tare::device
