// What the modules that run the panel kernel share: the kernel's own state of a process, and a
// projection made of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kernels/panel_projection.h"
#include "module_support.h"

namespace tare::modules {

// What open() makes and every executor uses; the ABI has no place to hand it from call to call.
struct PanelState {
  kernels::Memory memory;
  std::string path;  // the name of the one to run; "": the fastest here
  std::unique_ptr<kernels::ThreadPool> pool;
};

inline PanelState& panel_state() {
  static PanelState state;
  return state;
}

// The ABI's open() comes once per arm: all arms of a process share one pool. `path`: the one to
// run; "": the fastest here. Throws tare::Error where it does not run here.
inline void open_panel(const tare_services& services, std::string_view path) {
  PanelState& state = panel_state();
  state.memory = {.allocate = services.allocate, .release = services.release};
  kernels::choose_panel_path(path);
  state.path = path;
  if (state.pool == nullptr) {
    state.pool = std::make_unique<kernels::ThreadPool>(services.threads,
                                                       kernels::ThreadPool::Placement::kPinned);
  }
}

// The path for a problem's weights. Throws tare::Error where open_panel() would.
inline const kernels::PanelPath& panel_path(const tare_problem& problem) {
  return kernels::choose_panel_path(panel_state().path, problem.weights);
}

inline kernels::PanelProjection panel_projection(const tare_problem& problem, std::uint32_t slots,
                                                 kernels::SumOrder order,
                                                 const kernels::PanelPath& path) {
  const PanelState& state = panel_state();
  return {kernels::PackedShape{problem.k, problem.n, problem.weights, problem.bias},
          order,
          problem.rows,
          slots,
          path,
          *state.pool,
          state.memory};
}

}  // namespace tare::modules
