#include "kernels/cpu/paths.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "kernels/cpu/limits.h"
#include "kernels/cpu/support.h"

namespace tare::kernels {
namespace {

// The kernels of one instruction set.
struct Entry {
  const PanelPath* panel;
  const GroupedPath* grouped;
  bool (*runs_here)();
};

constexpr std::array kAll {
#if defined(__x86_64__)
  Entry{&kAvx512Bf16Panel, &kAvx512Bf16Grouped, &has_avx512_bf16},
      Entry{&kAvx512Panel, &kAvx512Grouped, &has_avx512},
      Entry{&kAvx2Panel, &kAvx2Grouped, &has_avx2},
#endif
      Entry{&kPortablePanel, &kPortableGrouped, &has_any},
};

// What of it rounded activations need is another choice: VNNI came before BF16. So is what f16 and
// f32 weights need: BF16 is nothing to them.
template <typename Path>
struct OtherEntry {
  const Path* path;
  bool (*runs_here)();
  std::string_view since;  // the narrowest path by name that it belongs to
};
using RoundedEntry = OtherEntry<GroupedPath>;
using FloatEntry = OtherEntry<PanelPath>;
constexpr std::array kRounded {
#if defined(__x86_64__)
  RoundedEntry{&kAvx512VnniRounded, &has_avx512_vnni, "avx512"},
      RoundedEntry{&kAvx2Rounded, &has_avx2, "avx2"},
#endif
      RoundedEntry{&kPortableRounded, &has_any, "portable"},
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

// Those of a list that this processor can run.
template <typename Path, std::size_t kMost>
struct Running {
  explicit Running(const std::array<OtherEntry<Path>, kMost>& entries) {
    for (const auto& entry : entries)
      if (entry.runs_here()) path[count++] = entry.path;
  }
  std::span<const Path* const> span() const { return {path.data(), count}; }
  std::array<const Path*, kMost> path{};
  std::size_t count = 0;
};

struct Runnable {
  Runnable() : rounded(kRounded), f16(kF16), f32(kF32) {
    for (const Entry& entry : kAll) {
      if (!entry.runs_here()) continue;
      panel[count] = entry.panel;
      grouped[count++] = entry.grouped;
    }
  }
  std::array<const PanelPath*, kAll.size()> panel{};
  std::array<const GroupedPath*, kAll.size()> grouped{};
  std::size_t count = 0;
  Running<GroupedPath, kRounded.size()> rounded;
  Running<PanelPath, kF16.size()> f16;
  Running<PanelPath, kF32.size()> f32;
};

const Runnable& runnable() {
  static const Runnable all;
  return all;
}

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

const Entry& choose(std::string_view wanted) {
  if (wanted.empty()) wanted = best_here();
  for (const Entry& entry : kAll) {
    if (wanted != entry.panel->name) continue;
    if (!entry.runs_here()) {
      fail(Blame::kMachine,
           "TARE_CPU_ISA is '{}', but this processor has no {}: unset it, or name another path",
           wanted, entry.panel->isa);
    }
    return entry;
  }
  fail(Blame::kInput, "TARE_CPU_ISA is '{}', which is none of portable, avx2, avx512, avx512bf16",
       wanted);
}

// The widest of `entries` that is no wider than the path named `wanted`; its last runs anywhere.
template <typename Path, std::size_t kMost>
const Path& widest_up_to(std::string_view wanted,
                         const std::array<OtherEntry<Path>, kMost>& entries) {
  const Entry* named = wanted.empty() ? kAll.data() : &choose(wanted);
  const Entry* const end = kAll.data() + kAll.size();
  for (const auto& entry : entries) {
    const bool reached =
        std::any_of(named, end, [&](const Entry& one) { return one.panel->name == entry.since; });
    if (reached && entry.runs_here()) return *entry.path;
  }
  return *entries.back().path;
}

}  // namespace

std::span<const PanelPath* const> panel_paths(std::uint32_t weights) {
  if (weights == TARE_F16) return runnable().f16.span();
  if (weights == TARE_F32) return runnable().f32.span();
  return {runnable().panel.data(), runnable().count};
}
std::span<const GroupedPath* const> grouped_paths() {
  return {runnable().grouped.data(), runnable().count};
}

std::span<const GroupedPath* const> rounded_paths() {
  return runnable().rounded.span();
}

const PanelPath& choose_panel_path(std::string_view wanted) {
  return *choose(wanted).panel;
}
const GroupedPath& choose_grouped_path(std::string_view wanted) {
  return *choose(wanted).grouped;
}
const PanelPath& choose_panel_path(std::string_view wanted, std::uint32_t weights) {
  if (weights == TARE_F16) return widest_up_to(wanted, kF16);
  if (weights == TARE_F32) return widest_up_to(wanted, kF32);
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
  return widest_up_to(wanted, kRounded);
}

}  // namespace tare::kernels
