// What the processor is called: from /proc/cpuinfo, with the name of its microarchitecture where
// that is well known.
#pragma once

#include <string>
#include <string_view>

namespace tare::device {

// The first processor of /proc/cpuinfo. Absent fields stay empty or 0 (containers and emulators
// hide some).
struct CpuInfo {
  std::string vendor;      // "GenuineIntel", "AuthenticAMD"
  std::string model_name;  // "Intel(R) Xeon(R) Processor"
  unsigned family = 0, model = 0, stepping = 0;
  unsigned implementer = 0, part = 0;  // of an Arm core: 0x41, 0xd40
  bool amx = false;                    // among the flags
};
CpuInfo parse_cpuinfo(std::string_view text);

// "Zen 4", "Emerald Rapids", "Neoverse V1"; "" when not known, or when the flags say that the
// numbers are not the processor's own: hypervisors make some up.
std::string microarchitecture(const CpuInfo& info);

// "AMD EPYC 9R14 (Zen 4)", "Intel Xeon (Emerald Rapids)": trademarks, core counts and clock rates
// left out. Never empty.
std::string processor_name(const CpuInfo& info);

}  // namespace tare::device
