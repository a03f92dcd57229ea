// Our own CPU kernels as an arm: "tare-panel", the bit-exact panel kernel (docs/kernels/panel.md).
//
// TARE_CPU_ISA=portable|avx2|avx512|avx512bf16 makes it run that path; unset, it runs the one that
// is fastest here. All paths give the same bits.
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "kernels/panel_projection.h"
#include "modules/own.h"

namespace {

using tare::kernels::Bf16;
using tare::kernels::Memory;
using tare::kernels::PackedShape;
using tare::kernels::PanelPath;
using tare::kernels::PanelProjection;
using tare::kernels::ThreadPool;

// What open() makes and every executor uses; the ABI has no place to hand it from call to call.
struct Opened {
  Memory memory;
  const PanelPath* path = nullptr;
  std::unique_ptr<ThreadPool> pool;
};
Opened& opened() {
  static Opened state;
  return state;
}

std::string wanted_path() {
  const char* wanted = std::getenv("TARE_CPU_ISA");
  return wanted == nullptr ? "" : wanted;
}

}  // namespace

struct tare_executor {
  PanelProjection projection;
};

namespace {

using tare::modules::guarded;

int open_panel(const tare_services* services, char* why, size_t why_size) {
  return guarded(why, why_size, [&] {
    Opened& state = opened();
    state.memory = {.allocate = services->allocate, .release = services->release};
    state.path = &tare::kernels::choose_panel_path(wanted_path());
    state.pool = std::make_unique<ThreadPool>(services->threads, ThreadPool::Placement::kPinned);
  });
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return guarded(why, why_size, [&] { tare::modules::require_bf16(*problem); });
}

int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return guarded(why, why_size, [&] {
    Opened& state = opened();
    *executor = new tare_executor{PanelProjection(
        PackedShape{problem->k, problem->n}, tare::kernels::onednn_order(problem->k), problem->rows,
        slots, *state.path, *state.pool, state.memory)};
  });
}

int bind(tare_executor* executor, uint32_t slot, const void* weights, char* why, size_t why_size) {
  return guarded(why, why_size,
                 [&] { executor->projection.bind(slot, static_cast<const Bf16*>(weights)); });
}

int set_rows(tare_executor* executor, uint32_t rows, char* why, size_t why_size) {
  return guarded(why, why_size, [&] { executor->projection.set_rows(rows); });
}

int enqueue(tare_executor* executor, uint32_t slot, const void* x, void* y) {
  executor->projection.run(slot, static_cast<const Bf16*>(x), static_cast<Bf16*>(y));
  return 0;
}

int fence(tare_executor*) {
  return 0;
}  // enqueue returns when y is written

int dispatched(tare_executor* executor, tare_dispatch_record* record) {
  const PanelPath& path = executor->projection.path();
  *record = {};
  tare::modules::say(record->kernel, "tare-panel:{}", path.name);
  tare::modules::say(record->isa, "{}", path.isa);
  tare::modules::say(record->configuration, "packed [n/64][k/2][64][2]; sums of {}; tile {}",
                     executor->projection.order().chunk, path.tile);
  tare::modules::say(record->library, "Tare {}", TARE_VERSION);
  record->threads = executor->projection.threads();
  return 0;
}

void destroy(tare_executor* executor) {
  delete executor;
}

constexpr tare_arm kPanel{.abi = TARE_ARM_ABI,
                          .flags = 0,
                          .name = "tare-panel",
                          .title = "Tare panel",
                          .version = TARE_VERSION,
                          .open = open_panel,
                          .supports = supports,
                          .prepare = prepare,
                          .bind = bind,
                          .set_rows = set_rows,
                          .enqueue = enqueue,
                          .fence = fence,
                          .dispatched = dispatched,
                          .destroy = destroy};

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  return index == 0 ? &kPanel : nullptr;
}
