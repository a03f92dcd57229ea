#include "device/processor_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <vector>

#include "device/text_file.h"

namespace tare::device {
namespace {

unsigned number(std::string_view value) {
  return static_cast<unsigned>(std::strtoul(std::string(value).c_str(), nullptr, 0));
}

void take_field(CpuInfo& info, std::string_view key, std::string_view value) {
  if (key == "vendor_id") info.vendor = value;
  if (key == "model name") info.model_name = value;
  if (key == "cpu family") info.family = number(value);
  if (key == "model") info.model = number(value);
  if (key == "stepping") info.stepping = number(value);
  if (key == "CPU implementer") info.implementer = number(value);
  if (key == "CPU part") info.part = number(value);
  if (key == "flags") info.amx = std::ranges::count(words_of(value), "amx_tile") > 0;
}

// Models [first, last] of one family, or part numbers of one implementer.
struct Name {
  unsigned family, first, last;
  const char* name;
};

// Family 6; Linux's intel-family.h has the same numbers.
constexpr Name kIntel[] = {
    {6, 0x3c, 0x3c, "Haswell"},        {6, 0x3f, 0x3f, "Haswell"},
    {6, 0x45, 0x46, "Haswell"},        {6, 0x3d, 0x3d, "Broadwell"},
    {6, 0x47, 0x47, "Broadwell"},      {6, 0x4f, 0x4f, "Broadwell"},
    {6, 0x56, 0x56, "Broadwell"},      {6, 0x4e, 0x4e, "Skylake"},
    {6, 0x5e, 0x5e, "Skylake"},        {6, 0x6a, 0x6a, "Ice Lake"},
    {6, 0x6c, 0x6c, "Ice Lake"},       {6, 0x7d, 0x7e, "Ice Lake"},
    {6, 0x8c, 0x8d, "Tiger Lake"},     {6, 0x8f, 0x8f, "Sapphire Rapids"},
    {6, 0x97, 0x97, "Alder Lake"},     {6, 0x9a, 0x9a, "Alder Lake"},
    {6, 0xa7, 0xa7, "Rocket Lake"},    {6, 0xaa, 0xaa, "Meteor Lake"},
    {6, 0xad, 0xae, "Granite Rapids"}, {6, 0xaf, 0xaf, "Sierra Forest"},
    {6, 0xb7, 0xb7, "Raptor Lake"},    {6, 0xba, 0xba, "Raptor Lake"},
    {6, 0xbd, 0xbd, "Lunar Lake"},     {6, 0xbf, 0xbf, "Raptor Lake"},
    {6, 0xc5, 0xc6, "Arrow Lake"},     {6, 0xcf, 0xcf, "Emerald Rapids"},
};

// The ranges by which Linux's amd.c tells the Zen generations apart.
constexpr Name kAmd[] = {
    {0x17, 0x00, 0x2f, "Zen"},   {0x17, 0x50, 0x5f, "Zen"},   {0x17, 0x30, 0x4f, "Zen 2"},
    {0x17, 0x60, 0x7f, "Zen 2"}, {0x17, 0x90, 0x91, "Zen 2"}, {0x17, 0xa0, 0xaf, "Zen 2"},
    {0x19, 0x00, 0x0f, "Zen 3"}, {0x19, 0x20, 0x5f, "Zen 3"}, {0x19, 0x10, 0x1f, "Zen 4"},
    {0x19, 0x60, 0xaf, "Zen 4"}, {0x1a, 0x00, 0x2f, "Zen 5"}, {0x1a, 0x40, 0x4f, "Zen 5"},
    {0x1a, 0x60, 0x7f, "Zen 5"},
};

constexpr Name kArm[] = {
    {0x41, 0xd08, 0xd08, "Cortex-A72"},  {0x41, 0xd0c, 0xd0c, "Neoverse N1"},
    {0x41, 0xd40, 0xd40, "Neoverse V1"}, {0x41, 0xd49, 0xd49, "Neoverse N2"},
    {0x41, 0xd4f, 0xd4f, "Neoverse V2"},
};

template <std::size_t N>
std::string look_up(const Name (&names)[N], unsigned family, unsigned model) {
  for (const Name& name : names) {
    if (name.family == family && name.first <= model && model <= name.last) return name.name;
  }
  return "";
}

// Three generations of servers share model 0x55; the stepping tells them apart.
std::string skylake_server(unsigned stepping) {
  if (stepping >= 10) return "Cooper Lake";
  return stepping >= 5 ? "Cascade Lake" : "Skylake";
}

// Seen: a Xeon with AMX and 480 MB of cache that calls itself model 0xa7, Rocket Lake.
bool can_be(const std::string& name, const CpuInfo& info) {
  return !info.amx || name == "Sapphire Rapids" || name == "Emerald Rapids" ||
         name == "Granite Rapids";
}

std::string without(std::string text, std::string_view what) {
  for (std::size_t at; (at = text.find(what)) != std::string::npos;) text.erase(at, what.size());
  return text;
}

// "64-Core", "Processor", "CPU": words that tell a reader nothing.
bool is_filler(std::string_view word) {
  return word == "Processor" || word == "CPU" || word.ends_with("-Core");
}

std::string tidy(std::string name) {
  name = without(without(std::move(name), "(R)"), "(TM)");
  name.resize(std::min(name.size(), name.find(" @ ")));  // "@ 2.30GHz": the clock that was sold
  std::string tidied;
  for (const std::string_view word : words_of(name)) {
    if (is_filler(word)) continue;
    if (!tidied.empty()) tidied += ' ';
    tidied += word;
  }
  return tidied;
}

std::string brand(const CpuInfo& info) {
  if (std::string name = tidy(info.model_name); !name.empty()) return name;
  if (info.vendor == "GenuineIntel") return "Intel";
  if (info.vendor == "AuthenticAMD") return "AMD";
  return info.implementer == 0x41 ? "Arm" : "unknown processor";
}

}  // namespace

CpuInfo parse_cpuinfo(std::string_view text) {
  CpuInfo info;
  std::size_t processors = 0;
  for (const std::string_view line : lines_of(text)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, colon));
    if (key == "processor" && ++processors > 1) break;
    take_field(info, key, trimmed(line.substr(colon + 1)));
  }
  return info;
}

std::string microarchitecture(const CpuInfo& info) {
  if (info.implementer != 0) return look_up(kArm, info.implementer, info.part);
  if (info.vendor == "AuthenticAMD") return look_up(kAmd, info.family, info.model);
  if (info.vendor != "GenuineIntel") return "";
  if (info.family == 6 && info.model == 0x55) return skylake_server(info.stepping);
  const std::string name = look_up(kIntel, info.family, info.model);
  return can_be(name, info) ? name : "";
}

std::string processor_name(const CpuInfo& info) {
  const std::string name = brand(info);
  const std::string generation = microarchitecture(info);
  return generation.empty() ? name : fmt::format("{} ({})", name, generation);
}

}  // namespace tare::device
