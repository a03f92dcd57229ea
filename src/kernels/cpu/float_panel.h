// The panel kernel of f16 and f32 weights, once for every instruction set: panel.h with another
// widening. Each element of k is one fused multiply-add in f32, of subnormals as of any number.
// Included only by the files that instantiate it (see panel.h).
#pragma once

#include "kernels/cpu/control_word.h"
#include "kernels/cpu/panel.h"

namespace tare::kernels {

template <typename Isa>
void run_float_panels(const PanelTask& task) {
  [[maybe_unused]] const KeepSubnormals control;
  run_panels_in_order<Isa>(task);
}

}  // namespace tare::kernels
