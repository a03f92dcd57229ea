#include "device/observation.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "device/environment.h"
#include "device/huge_arena.h"
#include "device/isa.h"
#include "device/pages.h"

namespace tare::device {
namespace {

PageTrial try_pages() {
  using Clock = std::chrono::steady_clock;
  HugeArena arena;
  const Clock::time_point start = Clock::now();
  void* const memory = arena.allocate(HugeArena::kChunkBytes);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (memory == nullptr) return {};
  return {.bytes = HugeArena::kChunkBytes,
          .seconds = seconds,
          .huge_share = huge_page_share(memory, HugeArena::kChunkBytes)};
}

}  // namespace

std::string hypervisor_name(const std::string& signature) {
  static constexpr std::pair<std::string_view, const char*> kNames[] = {
      {"KVMKVMKVM", "KVM"},    {"Microsoft Hv", "Hyper-V"}, {"VMwareVMware", "VMware"},
      {"XenVMMXenVMM", "Xen"}, {"TCGTCGTCGTCG", "QEMU"},    {"bhyve bhyve ", "bhyve"},
  };
  for (const auto& [known, name] : kNames) {
    if (signature == known) return name;
  }
  return signature;
}

Observation observe(double seconds) {
  Observation seen;
  seen.noise = watch(seconds);  // first: it checks its argument
  seen.machine = inspect();
  seen.hypervisor = hypervisor_name(read_cpuid().hypervisor);
  seen.processors_online = static_cast<std::uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  seen.limits = group_limits();
  seen.trial = try_pages();
  seen.hobbles = judge_environment(environment(), seen.machine);
  seen.accelerator = observe_cuda();
  return seen;
}

}  // namespace tare::device
