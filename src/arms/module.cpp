#include "arms/module.h"

#include <dlfcn.h>
#include <elf.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "arms/control_page.h"
#include "base/error.h"

namespace tare::arms {
namespace {

using Entry = const tare_arm* (*)(std::uint32_t);

// What every ELF file begins with, of 32 bits or 64; nothing when it is none.
std::optional<Elf64_Half> machine_of(const std::string& path) {
  std::array<char, offsetof(Elf64_Ehdr, e_machine) + sizeof(Elf64_Half)> header{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(header.data(), header.size()) || std::memcmp(header.data(), ELFMAG, SELFMAG) != 0)
    return std::nullopt;
  Elf64_Half machine = 0;
  std::memcpy(&machine, header.data() + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
  return machine;
}

std::string machine_name(Elf64_Half machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "64-bit Arm";
    case EM_386:
      return "32-bit x86";
    case EM_ARM:
      return "32-bit Arm";
    case EM_RISCV:
      return "RISC-V";
    default:
      return fmt::format("ELF machine {}", machine);
  }
}

// The dynamic linker says of a library for another kind of processor that there is no such file.
void require_own_machine(const std::string& path) {
  const auto machine = machine_of(path), own = machine_of("/proc/self/exe");
  if (machine && own && *machine != *own)
    fail(Blame::kArm, "it is built for {}, and this Tare for {}: build it for this processor.",
         machine_name(*machine), machine_name(*own));
}

void* open_library(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    fail(Blame::kArm, "no such file ({}). Give the path of the built shared library.", path);
  require_own_machine(path);
  // RTLD_NOW: a missing symbol shows here and not inside a region.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(Blame::kArm, "the dynamic linker cannot load it: {}", dlerror());
  return library;
}

Entry entry_of(void* library) {
  void* symbol = dlsym(library, TARE_ARM_ENTRY);
  if (symbol == nullptr)
    fail(Blame::kArm,
         "exports no symbol {}. Include tare/arm.h and define the function with TARE_EXPORT, "
         "in C++ as "
         "extern \"C\".",
         TARE_ARM_ENTRY);
  return reinterpret_cast<Entry>(symbol);
}

void check_functions(const tare_arm& arm) {
  const std::array<std::pair<const char*, bool>, 8> needed{{
      {"open", arm.open != nullptr},
      {"supports", arm.supports != nullptr},
      {"prepare", arm.prepare != nullptr},
      {"bind", arm.bind != nullptr},
      {"enqueue", arm.enqueue != nullptr},
      {"fence", arm.fence != nullptr},
      {"dispatched", arm.dispatched != nullptr},
      {"destroy", arm.destroy != nullptr},
  }};
  for (const auto& [name, present] : needed)
    if (!present)
      fail(Blame::kArm, "arm '{}' has no {}(): only set_rows may be NULL.", arm.name, name);
  if ((arm.flags & TARE_ON_DEVICE) == 0) return;
  const auto& device = reinterpret_cast<const tare_device_arm&>(arm);
  if (device.stage == nullptr || device.launch == nullptr || device.collect == nullptr)
    fail(Blame::kArm,
         "arm '{}' has TARE_ON_DEVICE and not all of stage(), launch() and collect(): fill the "
         "tare_device_arm, or clear the flag.",
         arm.name);
}

void check(const tare_arm& arm) {
  if (arm.abi < TARE_ARM_OLDEST_ABI || arm.abi > TARE_ARM_ABI)
    fail(Blame::kArm,
         "built for arm ABI {}, this Tare speaks {} to {}. Rebuild it against this tare/arm.h.",
         arm.abi, TARE_ARM_OLDEST_ABI, TARE_ARM_ABI);
  if (arm.name == nullptr || *arm.name == '\0')
    fail(Blame::kArm, "an arm has no name. Set tare_arm.name.");
  check_functions(arm);
}

}  // namespace

std::vector<const tare_arm*> load_module(const std::string& path) {
  const Entry entry = entry_of(open_library(path));
  std::vector<const tare_arm*> arms;
  while (const tare_arm* arm = entry(static_cast<std::uint32_t>(arms.size()))) {
    check(*arm);
    arms.push_back(arm);
    if (arms.size() > kMostArms)
      fail(Blame::kArm, "{}(index) never returns NULL: more than {} arms.", TARE_ARM_ENTRY,
           kMostArms);
  }
  if (arms.empty()) fail(Blame::kArm, "holds no arm: {}(0) is NULL.", TARE_ARM_ENTRY);
  return arms;
}

std::string title_with_version(const tare_arm& arm) {
  std::string title = arm.title != nullptr && *arm.title != '\0' ? arm.title : arm.name;
  if (arm.version != nullptr && *arm.version != '\0') title += std::string(" ") + arm.version;
  return title;
}

}  // namespace tare::arms
