// The panel kernel in plain C++: every multiply-add is the scalar emulation, in loops a compiler
// may vectorise.
#include "kernels/cpu/panel.h"
#include "kernels/cpu/paths.h"

namespace tare::kernels {
namespace {

struct NoControl {};

struct Portable {
  static constexpr std::size_t kLanes = 8;
  struct Vector {
    float lane[kLanes];
  };
  using Weights = Vector;
  using Activation = float;
  using Control = NoControl;  // the emulation flushes by itself
  static constexpr std::size_t kSteps = 2;
  static constexpr std::size_t kMostRows = 2;
  static constexpr bool kKeepsNanPayload = false;

  static constexpr std::size_t columns(std::size_t) { return 2; }
  static void arrange(const Bf16* x, std::uint64_t pairs, Activation* into) {
    for (std::uint64_t i = 0; i < 2 * pairs; ++i) into[i] = widen(x[i]);
  }
  static Weights weights(const Bf16Pair* from, std::size_t step) {
    Weights all;
    for (std::size_t i = 0; i < kLanes; ++i)
      all.lane[i] = widen(static_cast<Bf16>(step == 0 ? from[i] >> 16 : from[i]));
    return all;
  }
  static float broadcast(const Activation* x) { return *x; }
  static Vector load(const float* from) {
    Vector all;
    for (std::size_t i = 0; i < kLanes; ++i) all.lane[i] = from[i];
    return all;
  }
  static void store(float* into, const Vector& sum) {
    for (std::size_t i = 0; i < kLanes; ++i) into[i] = sum.lane[i];
  }
  static Vector multiply_add(Vector sum, const Weights& w, float x) {
    for (std::size_t i = 0; i < kLanes; ++i)
      sum.lane[i] = multiply_add_flushed(w.lane[i], x, sum.lane[i]);
    return sum;
  }
};

}  // namespace

const PanelPath kPortablePanel{
    .name = "portable",
    .isa = "portable C++",
    .tile = "2x16 f32 by emulated fused multiply-adds",
    .scratch_bytes = &scratch_bytes<Portable>,
    .run = &run_panels<Portable>,
};

}  // namespace tare::kernels
