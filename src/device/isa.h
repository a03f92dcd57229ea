// Instruction sets as the processor reports them and the operating system lets them be used.
#pragma once

#include <cstdint>
#include <string>

#include "device/machine.h"

namespace tare::device {

// The registers that decide; named as in Intel's and AMD's manuals.
struct Cpuid {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf7_ebx = 0, leaf7_ecx = 0, leaf7_edx = 0;
  std::uint32_t leaf7_1_eax = 0;
  std::uint64_t xcr0 = 0;      // register state that the operating system saves; 0 without OSXSAVE
  bool amx_permitted = false;  // the kernel granted the tile state to this process
  std::string hypervisor;      // "KVMKVMKVM"; "" on bare metal
};

// Asks the processor. Asks Linux, too, for leave to use AMX tiles (arch_prctl): the leave holds for
// this process and those it forks, and ends with exec. All zero on other architectures than x86-64.
Cpuid read_cpuid();

Isa decode_isa(const Cpuid& cpuid);
bool in_virtual_machine(const Cpuid& cpuid);

}  // namespace tare::device
