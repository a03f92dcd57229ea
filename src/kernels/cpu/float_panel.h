// The panel kernel of f16 and f32 weights, once for every instruction set: panel.h with another
// widening, and of f16 weights with runs. Each element of k is one fused multiply-add in f32, of
// subnormals as of any number. Included only by the files that instantiate it (see panel.h), each
// with a template of internal linkage: Weighed<Element> is an Isa of panel.h whose weights(pointer,
// step) and columns(rows) are those of f16 (std::uint16_t) or f32 (float) weights.
#pragma once

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/control_word.h"
#include "kernels/cpu/panel.h"
#include "kernels/cpu/paths.h"
#include "kernels/sum_order.h"

namespace tare::kernels {

template <typename Element>
struct Runs {};
template <>
struct Runs<std::uint16_t> {
  static constexpr std::uint64_t kRunPairs = kF16Run;
};

template <template <typename> typename Weighed, typename Element>
struct FloatPanel : Weighed<Element>, Runs<Element> {
  using Pair = Element;
  using Control = NoGuard;  // run_float_panels sets it for the whole task
  static constexpr std::size_t kSteps = 1;
  static constexpr Nan kNan = Nan::kDefault;

  static void arrange(const Bf16* x, std::uint64_t count, float* into) {
    widen_unflushed(x, count, into);
  }
};

template <typename Isa>
void run_float_panels(const PanelTask& task) {
  [[maybe_unused]] const KeepSubnormals control;
  run_panels_in_order<Isa>(task);
}

template <template <typename> typename Weighed, typename Element>
constexpr PanelPath float_panel_path(const char* name, const char* isa, const char* tile) {
  using Isa = FloatPanel<Weighed, Element>;
  return {name, isa, tile, &scratch_bytes_in_order<Isa>, &run_float_panels<Isa>};
}

}  // namespace tare::kernels
