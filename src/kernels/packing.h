// How weights lie for the panel kernels: [n / 32][k / 2][32][2] bf16, [n / 32][k][32] f16 or f32. A
// panel is 32 outputs; within it, pair after pair of k (of f16 and f32, element after element), the
// 32 outputs' side by side. So a kernel reads one ascending stream of memory, outputs lie in vector
// lanes, and one 32-bit lane is what vdpbf16ps multiplies. Odd k of bf16 is padded with a zero, n
// with outputs of zeros.
#pragma once

#include <cstdint>

#include "kernels/bf16_arithmetic.h"
#include "kernels/cpu/panel_task.h"
#include "tare/arm.h"

namespace tare::kernels {

struct PackedShape {
  std::uint64_t k = 0;
  std::uint64_t n = 0;
  std::uint32_t weights = TARE_BF16;  // TARE_BF16, TARE_F16 or TARE_F32
  std::uint32_t bias = 0;             // tare_problem::bias

  // What a panel holds of its outputs one after another: pairs of bf16, elements of others.
  std::uint64_t pairs() const { return weights == TARE_BF16 ? k / 2 + k % 2 : k; }
  std::uint64_t pair_bytes() const {
    return weights == TARE_F16 ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
  }
  std::uint64_t panels() const { return n / kPanelOutputs + (n % kPanelOutputs != 0); }
  std::uint64_t panel_bytes() const { return pairs() * kPanelOutputs * pair_bytes(); }
  // A bias lies behind all panels: f32 [n / 32][32], zeros behind n.
  std::uint64_t bias_at() const { return panels() * panel_bytes(); }
  std::uint64_t bytes() const {
    return bias_at() + (bias == 0 ? 0 : panels() * kPanelOutputs * sizeof(float));
  }
};

// Packs the panels [first, last) of W[n, k] (row-major, dense, as a model file stores it) into
// `packed`, which is the memory of the whole: shape.bytes(), zeroed or not. Panels are independent:
// disjoint ranges may be packed by different threads at once. `swapped`: with the elements of every
// pair of bf16 in each other's place (SumOrder::even_first).
void pack_panels(const PackedShape& shape, const void* weights, std::uint64_t first,
                 std::uint64_t last, void* packed, bool swapped = false);

// Puts the bias that lies behind `weights` (tare/arm.h) at its place in `packed`; does nothing
// where the shape has none.
void pack_bias(const PackedShape& shape, const void* weights, void* packed);

// x [rows, k] of an even k with the elements of every pair in each other's place: of all x, `pairs`
// of them.
void swap_pairs(const Bf16* x, std::uint64_t pairs, Bf16* into);

}  // namespace tare::kernels
