#include "kernels/cpu/paths.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "kernels/cpu/limits.h"
#include "kernels/cpu/support.h"

namespace tare::kernels {
namespace {

struct Entry {
  const PanelPath* path;
  bool (*runs_here)();
};

constexpr std::array kAll {
#if defined(__x86_64__)
  Entry{&kAvx512Bf16Panel, &has_avx512_bf16}, Entry{&kAvx512Panel, &has_avx512},
      Entry{&kAvx2Panel, &has_avx2},
#endif
      Entry{&kPortablePanel, &has_any},
};

struct Runnable {
  Runnable() {
    for (const auto& entry : kAll) {
      if (entry.runs_here()) path[count++] = entry.path;
    }
  }
  std::array<const PanelPath*, kAll.size()> path{};
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

const PanelPath& best_here() {
  const auto paths = panel_paths();
  if (std::string_view(paths[0]->name) == "avx512bf16" && plain_multiply_adds_win())
    return *paths[1];
  return *paths[0];
}

}  // namespace

std::span<const PanelPath* const> panel_paths() {
  static const Runnable runnable;
  return {runnable.path.data(), runnable.count};
}

const PanelPath& choose_panel_path(std::string_view wanted) {
  if (wanted.empty()) return best_here();
  for (const auto& entry : kAll) {
    if (wanted != entry.path->name) continue;
    if (!entry.runs_here()) {
      fail(Blame::kMachine,
           "TARE_CPU_ISA is '{}', but this processor has no {}: unset it, or name another path",
           wanted, entry.path->isa);
    }
    return *entry.path;
  }
  fail(Blame::kInput, "TARE_CPU_ISA is '{}', which is none of portable, avx2, avx512, avx512bf16",
       wanted);
}

}  // namespace tare::kernels
