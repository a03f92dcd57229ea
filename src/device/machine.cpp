#include "device/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>

#include "device/isa.h"
#include "device/memory.h"
#include "device/processor_name.h"
#include "device/text_file.h"
#include "device/topology.h"

namespace tare::device {
namespace {

std::string kernel_release() {
  utsname name{};
  return uname(&name) == 0 ? name.release : "";
}

}  // namespace

Machine inspect() {
  const std::vector<unsigned> processors = allowed_processors();
  const Topology topology = inspect_topology(processors);
  const Cpuid cpuid = read_cpuid();
  const MemoryInfo memory = memory_info();
  Machine machine;
  machine.processor = processor_name(parse_cpuinfo(read_text("/proc/cpuinfo").value_or("")));
  machine.threads = static_cast<std::uint32_t>(processors.size());
  machine.cores = topology.cores;
  machine.smt = topology.smt;
  machine.isa = decode_isa(cpuid);
  machine.l1d_bytes = topology.l1d_bytes;
  machine.l2_bytes = topology.l2_bytes;
  machine.last_level_cache_bytes = topology.last_level_cache_bytes;
  machine.last_level_caches = std::max(1u, topology.last_level_caches);
  machine.memory_bytes = memory.total_bytes;
  machine.available_bytes = memory.available_bytes;
  machine.huge_pages = huge_page_setting();
  machine.governor = clock_governor("/sys/devices/system/cpu", processors);
  machine.kernel = kernel_release();
  machine.virtual_machine = in_virtual_machine(cpuid);
  return machine;
}

std::string summary(const Machine& machine) {
  return fmt::format("{}, {} thread{}, {}", machine.processor, machine.threads,
                     machine.threads == 1 ? "" : "s", best_of(machine.isa));
}

}  // namespace tare::device
