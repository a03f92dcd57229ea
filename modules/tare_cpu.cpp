// Our own CPU kernels as an arm: "tare-panel", the bit-exact panel kernel (docs/kernels/panel.md).
//
// TARE_CPU_ISA=portable|avx2|avx512|avx512bf16 makes it run that path; unset, it runs the one that
// is fastest here. All paths give the same bits.
#include <cstdlib>
#include <string>

#include "arm_table.h"
#include "kernels/identity.h"
#include "panel_module.h"

namespace {

using tare::kernels::Bf16;
using tare::kernels::PanelPath;
using tare::kernels::PanelProjection;

std::string wanted_path() {
  const char* wanted = std::getenv("TARE_CPU_ISA");
  return wanted == nullptr ? "" : wanted;
}

}  // namespace

struct tare_executor {
  PanelProjection projection;

  void bind(std::uint32_t slot, const void* weights) {
    projection.bind(slot, static_cast<const Bf16*>(weights));
  }

  void set_rows(std::uint32_t rows) { projection.set_rows(rows); }

  bool enqueue(std::uint32_t slot, const void* x, void* y) noexcept {
    projection.run(slot, static_cast<const Bf16*>(x), static_cast<Bf16*>(y));
    return true;
  }

  bool fence() noexcept { return true; }  // enqueue returns when y is written

  void describe(tare_dispatch_record& record) const {
    const PanelPath& path = projection.path();
    const std::string configuration = fmt::format("packed [n/64][k/2][64][2]; sums of {}; tile {}",
                                                  projection.order().chunk, path.tile);
    tare::modules::fill(record,
                        {fmt::format("tare-panel:{}", path.name), path.isa, configuration,
                         tare::kernels::library_text(TARE_VERSION)},
                        projection.threads());
  }
};

namespace {

using tare::modules::fenced;

int open(const tare_services* services, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { tare::modules::open_panel(*services, wanted_path()); });
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { tare::modules::require_bf16(*problem, "tare_cpu"); });
}

int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] {
    *executor = new tare_executor{tare::modules::panel_projection(*problem, slots)};
  });
}

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  static const tare_arm panel = tare::modules::arm_table<tare_executor>(
      {0u, "tare-panel", "Tare panel", TARE_VERSION}, {open, supports, prepare});
  return index == 0 ? &panel : nullptr;
}
