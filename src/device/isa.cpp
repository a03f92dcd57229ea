#include "device/isa.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#endif

namespace tare::device {
namespace {

constexpr bool bit(std::uint64_t value, unsigned index) {
  return (value >> index) & 1;
}
constexpr bool all(std::uint64_t value, std::uint64_t mask) {
  return (value & mask) == mask;
}

constexpr std::uint64_t kAvxState = 0x6;      // XMM, YMM
constexpr std::uint64_t kAvx512State = 0xe6;  // and opmasks, upper ZMM, ZMM16-31
constexpr std::uint64_t kAmxState = 0x60000;  // tile configuration, tile data

#ifdef __x86_64__

constexpr unsigned kOsxsave = 27;

std::uint64_t read_xcr0() {
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

bool ask_for_amx() {
  constexpr long kArchReqXcompPerm = 0x1023, kTileData = 18;  // asm/prctl.h, since Linux 5.16
  return syscall(SYS_arch_prctl, kArchReqXcompPerm, kTileData) == 0;
}

std::string hypervisor_signature() {
  std::uint32_t eax = 0, name[3] = {};
  __cpuid(0x40000000u, eax, name[0], name[1], name[2]);
  char text[sizeof name + 1] = {};
  std::memcpy(text, name, sizeof name);
  return text;
}

#endif

}  // namespace

#ifdef __x86_64__

Cpuid read_cpuid() {
  Cpuid cpuid;
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx)) cpuid.leaf1_ecx = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
    cpuid.leaf7_ebx = ebx;
    cpuid.leaf7_ecx = ecx;
    cpuid.leaf7_edx = edx;
    const std::uint32_t last_subleaf = eax;
    if (last_subleaf >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx))
      cpuid.leaf7_1_eax = eax;
  }
  if (bit(cpuid.leaf1_ecx, kOsxsave)) cpuid.xcr0 = read_xcr0();
  if (all(cpuid.xcr0, kAmxState)) cpuid.amx_permitted = ask_for_amx();
  if (in_virtual_machine(cpuid)) cpuid.hypervisor = hypervisor_signature();
  return cpuid;
}

#else

Cpuid read_cpuid() {
  return {};
}

#endif

Isa decode_isa(const Cpuid& cpuid) {
  Isa isa;
  constexpr unsigned kFma = 12, kF16c = 29;
  isa.avx2 = all(cpuid.xcr0, kAvxState) && bit(cpuid.leaf7_ebx, 5) && bit(cpuid.leaf1_ecx, kFma) &&
             bit(cpuid.leaf1_ecx, kF16c);
  constexpr std::uint64_t kFoundation = 1u << 16, kDq = 1u << 17, kBw = 1u << 30, kVl = 1u << 31;
  isa.avx512 = isa.avx2 && all(cpuid.xcr0, kAvx512State) &&
               all(cpuid.leaf7_ebx, kFoundation | kDq | kBw | kVl);
  isa.avx512_vnni = isa.avx512 && bit(cpuid.leaf7_ecx, 11);
  isa.avx512_bf16 = isa.avx512 && bit(cpuid.leaf7_1_eax, 5);
  isa.avx512_fp16 = isa.avx512 && bit(cpuid.leaf7_edx, 23);
  constexpr unsigned kAmxBf16 = 22, kAmxTile = 24, kAmxInt8 = 25;
  const bool tiles =
      all(cpuid.xcr0, kAmxState) && bit(cpuid.leaf7_edx, kAmxTile) && cpuid.amx_permitted;
  isa.amx_bf16 = tiles && bit(cpuid.leaf7_edx, kAmxBf16);
  isa.amx_int8 = tiles && bit(cpuid.leaf7_edx, kAmxInt8);
  return isa;
}

bool in_virtual_machine(const Cpuid& cpuid) {
  constexpr unsigned kHypervisor = 31;
  return bit(cpuid.leaf1_ecx, kHypervisor);
}

std::string best_of(const Isa& isa) {
  if (isa.amx_bf16) return "AMX BF16";
  if (isa.avx512_bf16) return "AVX-512 BF16";
  if (isa.avx512_vnni) return "AVX-512 VNNI";
  if (isa.avx512) return "AVX-512";
  if (isa.avx2) return "AVX2";
#ifdef __x86_64__
  return "x86-64";
#else
  return "AArch64";
#endif
}

}  // namespace tare::device
