#include "base/error.h"
#include "device/machine.h"
#include "device/proc_stat.h"
#include "device/text_file.h"

namespace tare::device {

ProcessorTime processor_time() {
  const auto stat = read_text("/proc/stat");
  if (!stat) {
    fail(Blame::kMachine,
         "cannot read /proc/stat, so nothing can be said about other work on this machine: mount "
         "/proc");
  }
  return parse_processor_time(*stat, ticks_per_second());
}

}  // namespace tare::device
