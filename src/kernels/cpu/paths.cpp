#include "kernels/cpu/paths.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "kernels/cpu/limits.h"
#include "kernels/cpu/support.h"

namespace tare::kernels {
namespace {

struct PanelEntry {
  const PanelPath* path;
  bool (*runs_here)();
};
constexpr std::array kPanels {
#if defined(__x86_64__)
  PanelEntry{&kAvx512Bf16Panel, &has_avx512_bf16}, PanelEntry{&kAvx512Panel, &has_avx512},
      PanelEntry{&kAvx2Panel, &has_avx2},
#endif
      PanelEntry{&kPortablePanel, &has_any},
};

// What quantised weights need is another choice: instructions that look bytes up (VBMI) came after
// AVX-512 BF16, those that multiply 8-bit integers (VNNI) before it. So is what f16 and f32 weights
// need: BF16 is nothing to them.
template <typename Path>
struct OtherEntry {
  const Path* path;
  bool (*runs_here)();
  std::string_view since;  // the narrowest panel path by name that it belongs to
};

using GroupedEntry = OtherEntry<GroupedPath>;
using FloatEntry = OtherEntry<PanelPath>;

bool has_avx512_bf16_and_vbmi() {
  return has_avx512_bf16() && has_avx512_vbmi();
}
constexpr std::array kGrouped {
#if defined(__x86_64__)
  GroupedEntry{&kAvx512Bf16Grouped, &has_avx512_bf16_and_vbmi, "avx512bf16"},
      GroupedEntry{&kAvx512VbmiGrouped, &has_avx512_vbmi, "avx512"},
      GroupedEntry{&kAvx512Grouped, &has_avx512, "avx512"},
      GroupedEntry{&kAvx2Grouped, &has_avx2, "avx2"},
#endif
      GroupedEntry{&kPortableGrouped, &has_any, "portable"},
};
constexpr std::array kRounded {
#if defined(__x86_64__)
  GroupedEntry{&kAvx512VnniRounded, &has_avx512_vnni, "avx512"},
      GroupedEntry{&kAvx2Rounded, &has_avx2, "avx2"},
#endif
      GroupedEntry{&kPortableRounded, &has_any, "portable"},
};

constexpr std::array kF16 {
#if defined(__x86_64__)
  FloatEntry{&kAvx512F16Panel, &has_avx512, "avx512"},
      FloatEntry{&kAvx2F16Panel, &has_avx2, "avx2"},
#endif
      FloatEntry{&kPortableF16Panel, &has_any, "portable"},
};
constexpr std::array kF32 {
#if defined(__x86_64__)
  FloatEntry{&kAvx512F32Panel, &has_avx512, "avx512"},
      FloatEntry{&kAvx2F32Panel, &has_avx2, "avx2"},
#endif
      FloatEntry{&kPortableF32Panel, &has_any, "portable"},
};

// Those of a list that run here, in its order.
template <typename Path, std::size_t kCount>
struct Runnable {
  template <typename Entry>
  explicit Runnable(const std::array<Entry, kCount>& all) {
    for (const Entry& entry : all)
      if (entry.runs_here()) path[count++] = entry.path;
  }
  std::span<const Path* const> span() const { return {path.data(), count}; }
  std::array<const Path*, kCount> path{};
  std::size_t count = 0;
};

// On AVX-512F a pair costs two multiply-adds and a share of widening the weights (1/6 in tiles of
// six rows). So plain multiply-adds must be that much faster than vdpbf16ps to be worth it; on
// Emerald Rapids they are twice as fast.
bool plain_multiply_adds_win() {
  constexpr double kWidening = 1.2;
  const auto rate = [](std::string_view name) {
    const auto kernels = peak_kernels();
    return measured_rate(
        *std::find_if(kernels.begin(), kernels.end(),
                      [&](const PeakKernel& kernel) { return kernel.name == name; }));
  };
  return rate("avx512") > kWidening * rate("avx512bf16");
}

std::string_view best_here() {
  const auto paths = panel_paths();
  if (std::string_view(paths[0]->name) == "avx512bf16" && plain_multiply_adds_win())
    return paths[1]->name;
  return paths[0]->name;
}

const PanelEntry& choose(std::string_view wanted) {
  if (wanted.empty()) wanted = best_here();
  for (const PanelEntry& entry : kPanels) {
    if (wanted != entry.path->name) continue;
    if (!entry.runs_here()) {
      fail(Blame::kMachine,
           "TARE_CPU_ISA is '{}', but this processor has no {}: unset it, or name another path",
           wanted, entry.path->isa);
    }
    return entry;
  }
  fail(Blame::kInput, "TARE_CPU_ISA is '{}', which is none of portable, avx2, avx512, avx512bf16",
       wanted);
}

// The first of a list that runs here and belongs to the named panel path or a narrower one.
template <typename Path, std::size_t kCount>
const Path& choose_from(const std::array<OtherEntry<Path>, kCount>& all, const PanelEntry& named) {
  const PanelEntry* const end = kPanels.data() + kPanels.size();
  return *std::ranges::find_if(all, [&](const OtherEntry<Path>& entry) {
            const bool reached = std::any_of(
                &named, end, [&](const PanelEntry& one) { return one.path->name == entry.since; });
            return reached && entry.runs_here();
          })->path;
}

}  // namespace

std::span<const PanelPath* const> panel_paths(std::uint32_t weights) {
  static const Runnable<PanelPath, kPanels.size()> all(kPanels);
  static const Runnable<PanelPath, kF16.size()> f16(kF16);
  static const Runnable<PanelPath, kF32.size()> f32(kF32);
  return weights == TARE_F16 ? f16.span() : weights == TARE_F32 ? f32.span() : all.span();
}
std::span<const GroupedPath* const> grouped_paths() {
  static const Runnable<GroupedPath, kGrouped.size()> all(kGrouped);
  return all.span();
}
std::span<const GroupedPath* const> rounded_paths() {
  static const Runnable<GroupedPath, kRounded.size()> all(kRounded);
  return all.span();
}

const PanelPath& choose_panel_path(std::string_view wanted) {
  return *choose(wanted).path;
}
const GroupedPath& choose_grouped_path(std::string_view wanted) {
  return choose_from(kGrouped, choose(wanted));
}
const PanelPath& choose_panel_path(std::string_view wanted, std::uint32_t weights) {
  if (weights == TARE_F16)
    return choose_from(kF16, wanted.empty() ? kPanels.front() : choose(wanted));
  if (weights == TARE_F32)
    return choose_from(kF32, wanted.empty() ? kPanels.front() : choose(wanted));
  return choose_panel_path(wanted);
}
const PanelPath& amx_panel_path() {
#if defined(__x86_64__)
  if (has_amx_bf16()) return kAmxPanel;
#endif
  fail(Blame::kMachine,
       "this processor, or its operating system, has no AMX tiles for bf16 (AMX-TILE, AMX-BF16)");
}
const GroupedPath& choose_rounded_path(std::string_view wanted) {
  return choose_from(kRounded, wanted.empty() ? kPanels.front() : choose(wanted));
}

}  // namespace tare::kernels
